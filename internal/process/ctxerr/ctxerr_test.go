package ctxerr_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/cotterpin/cotter/internal/process/ctxerr"
)

func TestWith(t *testing.T) {
	t.Parallel()
	cause := errors.New("the user pressed a button")
	running, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	ended, end := context.WithCancelCause(t.Context())
	end(cause)
	plain, endPlain := context.WithCancel(t.Context())
	endPlain()
	for _, test := range []struct {
		name string
		ctx  context.Context
		err  error
		want string
	}{
		{"no error", ended, nil, "<nil>"},
		{"a context that has not ended", running, context.Canceled, "context canceled"},
		{"another error", ended, io.EOF, "EOF"},
		{"a lost cause", ended, fmt.Errorf("fetch: %w", context.Canceled), "fetch: context canceled: the user pressed a button"},
		{"a cause that the error has", ended, fmt.Errorf("%w: %w", context.Canceled, cause), "context canceled: the user pressed a button"},
		{"no cause", plain, context.Canceled, "context canceled"},
	} {
		if got := fmt.Sprint(ctxerr.With(test.ctx, test.err)); got != test.want {
			t.Errorf("%s: %s; want %s", test.name, got, test.want)
		}
	}
	if err := ctxerr.Of(running); err != nil {
		t.Error(err)
	}
	if err := ctxerr.Of(ended); !errors.Is(err, context.Canceled) || !errors.Is(err, cause) {
		t.Error(err)
	}
}
