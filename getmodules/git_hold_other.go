//go:build !unix

package getmodules

import (
	"context"
	"os"
)

// holdFile does nothing: children inherit no locks here.
func holdFile(context.Context, string) (*os.File, error) { return nil, nil }
