// Package ctxerr keeps the causes of canceled contexts in errors. Clients and the standard library
// return only the error of a context, such as context.Canceled, and not its cause.
package ctxerr

import (
	"context"
	"errors"
	"fmt"
)

// Of returns the error of a context, with its cause if the caller has given one.
func Of(ctx context.Context) error { return With(ctx, ctx.Err()) }

// With returns err with the cause of the context, if the context has ended, err says so, and err
// does not have the cause yet. Otherwise it returns err.
func With(ctx context.Context, err error) error {
	if ctx.Err() == nil || !errors.Is(err, ctx.Err()) {
		return err
	}
	if cause := context.Cause(ctx); !errors.Is(err, cause) {
		return fmt.Errorf("%w: %w", err, cause)
	}
	return err
}

// Keep is [With] for the result of a function that defers it.
func Keep(ctx context.Context, err *error) { *err = With(ctx, *err) }
