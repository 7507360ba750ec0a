package getmodules

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"math/rand/v2"
	"net"
	"time"

	"github.com/cotterpin/cotter/internal/pause"
)

const (
	defaultRetries = 3
	firstBackoff   = 500 * time.Millisecond
)

func (f *Fetcher) retries() int { return cmp.Or(f.Retries, defaultRetries) }

// repeat asks a server, and asks again after failures that may pass. Pauses that
// the server asks for are kept to by all that ask it.
func (f *Fetcher) repeat(ctx context.Context, host string, ask func() error) error {
	for retry := 1; ; retry++ {
		if err := f.pauses.Wait(ctx, host); err != nil {
			return err
		}
		err := ask()
		if err == nil || retry > f.retries() || !isTransient(err) || ctx.Err() != nil {
			return err
		}
		status, ok := errors.AsType[*StatusError](err)
		if ok && status.pause.Asked && f.Backoff == nil {
			f.pauses.Ask(host, status.pause.Wait)
			continue
		}
		if err := pause.Sleep(ctx, f.backoff(retry)); err != nil {
			return err
		}
	}
}

// backoff is how long to wait before a retry that no server has a say in.
func (f *Fetcher) backoff(retry int) time.Duration {
	if f.Backoff != nil {
		return f.Backoff(retry)
	}
	step := firstBackoff << min(retry-1, 4)
	return step/2 + rand.N(step)
}

// isTransient reports whether a failed request may succeed when it is repeated.
func isTransient(err error) bool {
	if status, ok := errors.AsType[*StatusError](err); ok {
		return !status.pause.TooLong() && pause.IsTemporary(status.StatusCode)
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return false
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return !dns.IsNotFound
	}
	_, ok := errors.AsType[*networkError](err)
	return ok
}
