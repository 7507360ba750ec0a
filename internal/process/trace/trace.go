// Package trace reports what a run asks of other programs: requests to servers, fetches of packages,
// and commands such as git. The hook travels in the context, so that it reaches clients that live
// longer than a run.
package trace

import "context"

// Operation is one request, fetch or command, as in package event.
type Operation struct {
	Kind, Name, Target string
}

// Hook is called when an operation begins. The operation gets the context that it returns. done is
// called once when the operation has ended, and may be nil. Several goroutines may call a hook at once.
type Hook func(ctx context.Context, op Operation) (_ context.Context, done func(error))

type key struct{}

func With(ctx context.Context, hook Hook) context.Context {
	return context.WithValue(ctx, key{}, hook)
}

// Start reports the beginning of an operation. The caller must call done with its error.
func Start(ctx context.Context, op Operation) (_ context.Context, done func(error)) {
	hook, _ := ctx.Value(key{}).(Hook)
	if hook == nil {
		return ctx, func(error) {}
	}
	traced, done := hook(ctx, op)
	if traced == nil {
		traced = ctx
	}
	if done == nil {
		done = func(error) {}
	}
	return traced, done
}
