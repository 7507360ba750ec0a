package initwd

import (
	"context"
	"errors"
	"log"
	"strings"
	"time"

	cotteraddrs "github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/event"

	"github.com/opentofu/opentofu/internal/tracing"
	"github.com/opentofu/opentofu/internal/tracing/traceattrs"
)

// traced gives each request, fetch and command of Cotter a span and a line of the log. It is installer.Options.Trace.
func traced(ctx context.Context, op event.Operation) (context.Context, func(error)) {
	name := strings.TrimSpace(op.Kind + " " + op.Name)
	ctx, span := tracing.Tracer().Start(ctx, name, tracing.SpanAttributes(traceattrs.URLFull(op.Target)))
	began := time.Now()
	return ctx, func(err error) {
		result := "done"
		if err != nil {
			result = cotteraddrs.RedactText(err.Error())
			tracing.SetSpanError(span, errors.New(result))
		}
		log.Printf("[DEBUG] %s %s: %s after %s", name, op.Target, result, time.Since(began))
		span.End()
	}
}
