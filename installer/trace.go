package installer

import (
	"context"
	"log/slog"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/process/trace"
)

func hookOf(logger *slog.Logger, tracer func(context.Context, event.Operation) (context.Context, func(error))) trace.Hook {
	if logger == nil && tracer == nil {
		return nil
	}
	return func(ctx context.Context, op trace.Operation) (context.Context, func(error)) {
		done := func(error) {}
		if tracer != nil {
			if traced, end := tracer(ctx, event.Operation(op)); traced != nil {
				ctx = traced
				if end != nil {
					done = end
				}
			}
		}
		if logger == nil || !logger.Enabled(ctx, slog.LevelDebug) {
			return ctx, done
		}
		began := time.Now()
		return ctx, func(err error) {
			done(err)
			attrs := []slog.Attr{slog.String("kind", op.Kind), slog.String("name", op.Name), slog.String("target", op.Target), slog.Duration("duration", time.Since(began))}
			if err != nil {
				attrs = append(attrs, slog.String("error", addrs.RedactText(err.Error())))
			}
			logger.LogAttrs(ctx, slog.LevelDebug, "operation", attrs...)
		}
	}
}

// logged returns a callback that also logs warnings.
func logged(logger *slog.Logger, fn func(Event)) func(Event) {
	if logger == nil {
		return fn
	}
	return func(ev Event) {
		if w, ok := ev.(event.Warning); ok {
			attrs := []slog.Attr{slog.String("module", w.Path.String()), slog.String("kind", string(w.Kind))}
			if w.Range.Filename != "" {
				attrs = append(attrs, slog.String("range", w.Range.String()))
			}
			logger.LogAttrs(context.Background(), slog.LevelWarn, w.Message, attrs...)
		}
		if fn != nil {
			fn(ev)
		}
	}
}
