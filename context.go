package cotter

import (
	"context"
	"fmt"
)

// contextError returns the error of a context, with its cause if the caller has given one; nil if
// the context has not ended.
func contextError(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if err == nil || cause == err {
		return err
	}
	return fmt.Errorf("%w: %w", err, cause)
}
