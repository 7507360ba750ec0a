package getmodules

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/url"
	"time"

	"github.com/cotterpin/cotter/internal/minrate"
)

const defaultStallTimeout = 30 * time.Second

// floor is the least that a transfer must bring over each window, by the caller's
// limits.
func (f *Fetcher) floor(window time.Duration) minrate.Floor {
	return minrate.Floor{PerSecond: f.Limits.MinRate, Window: cmp.Or(f.StallTimeout, window)}
}

// stallGuard cancels a request that does not get on: whose answer does not
// begin within the window, or whose body brings too little.
type stallGuard struct {
	*minrate.Guard
	url *url.URL
}

// guardStall derives the context for a request.
func guardStall(ctx context.Context, u *url.URL, floor minrate.Floor) (context.Context, *stallGuard) {
	ctx, guard := floor.Watch(ctx)
	return ctx, &stallGuard{guard, u}
}

// body counts what an answer's body brings.
func (g *stallGuard) body(body io.ReadCloser) io.ReadCloser {
	g.Restart()
	return &guardedBody{g, body}
}

// explain replaces the consequences of a stall by their cause.
func (g *stallGuard) explain(err error) error {
	if stalled := g.Err(); err != nil && stalled != nil {
		return &networkError{g.url, stalled}
	}
	return err
}

type guardedBody struct {
	guard *stallGuard
	io.ReadCloser
}

func (b *guardedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.guard.Add(n)
	if err != nil && !errors.Is(err, io.EOF) {
		err = &networkError{b.guard.url, err}
	}
	return n, err
}
