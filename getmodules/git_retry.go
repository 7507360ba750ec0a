package getmodules

import (
	"context"

	"github.com/cotterpin/cotter/internal/httpx"
)

// gitPassing is what git says of failures that may pass: a server that is busy
// or being restarted, a connection that broke. Those that cannot be made at all
// are not among them: they are mostly wrong addresses.
var gitPassing = []string{
	"returned error: 429", "returned error: 500", "returned error: 502", "returned error: 503", "returned error: 504",
	"http 429", "http 500", "http 502", "http 503", "http 504",
	"connection reset", "connection timed out", "early eof", "hung up unexpectedly",
}

// again runs git, and runs it again after a failure that may pass, as often
// and as late as http requests are repeated.
func (f *Fetcher) again(ctx context.Context, run func() error) error {
	return f.retry().Do(ctx, "", func() error {
		err := run()
		if gitSays(err, gitPassing) && cacheTrouble(err) == "" {
			return &httpx.TemporaryError{Err: err}
		}
		return err
	})
}
