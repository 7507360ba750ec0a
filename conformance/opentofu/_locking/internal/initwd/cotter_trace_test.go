package initwd

import (
	"bytes"
	"log"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/opentofu/opentofu/internal/getmodules"
)

// TestCotterTrace checks that what Cotter does is in OpenTofu's traces, below the span of the caller, and in
// its log.
func TestCotterTrace(t *testing.T) {
	recorder := tracetest.NewSpanRecorder()
	before, output := otel.GetTracerProvider(), log.Writer()
	defer func() { otel.SetTracerProvider(before); log.SetOutput(output) }()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))
	otel.SetTracerProvider(provider)
	var lines bytes.Buffer
	log.SetOutput(&lines)

	t.Chdir(t.TempDir())
	ctx, init := provider.Tracer("test").Start(t.Context(), "init")
	installIn(ctx, t, ".terraform/modules", writePackage(t, t.TempDir()), getmodules.NewPackageFetcher(ctx, nil))
	init.End()

	spans := recorder.Ended()
	at := slices.IndexFunc(spans, func(s sdktrace.ReadOnlySpan) bool { return s.Name() == "fetch" })
	if at < 0 {
		t.Fatal("no span of the fetch has ended")
	}
	if fetch := spans[at]; fetch.SpanContext().TraceID() != init.SpanContext().TraceID() {
		t.Errorf("the span %q is not below that of init", fetch.Name())
	}
	if !strings.Contains(lines.String(), "[DEBUG] fetch ") {
		t.Errorf("the log has no line of the fetch:\n%s", &lines)
	}
}
