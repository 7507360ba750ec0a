package cotter

import (
	"context"
	"errors"
	"fmt"
)

// contextError returns the error of a context, with its cause if the caller has given one; nil if
// the context has not ended.
func contextError(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if err == nil || errors.Is(cause, err) {
		return cause
	}
	return fmt.Errorf("%w: %w", err, cause)
}
