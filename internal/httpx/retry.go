package httpx

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math/rand/v2"
	"net"
	"time"

	"github.com/cotterpin/cotter/internal/retryafter"
)

const (
	// DefaultRetries is how often a failed request is repeated by default.
	DefaultRetries = 3
	// DefaultFirstWait is the upper bound of the first wait by default.
	DefaultFirstWait = 500 * time.Millisecond
	// maxWaited bounds the sum of all waits of one request.
	maxWaited = 5 * time.Minute
	// maxGrowth bounds the growth of waits that no server asked for.
	maxGrowth = 16
)

// Retry says how often and how soon something is repeated. The zero value uses the
// defaults.
type Retry struct {
	// Max is how often a failed request is repeated. 0 means DefaultRetries; a
	// negative number means never.
	Max int
	// FirstWait bounds the wait before the first retry; each later one may be
	// twice as long, up to 16 times. 0 means DefaultFirstWait.
	FirstWait time.Duration
	// Backoff returns the wait before the retry with this number, from 1 on. It
	// replaces FirstWait and the pauses that servers ask for. It may be nil.
	Backoff func(retry int) time.Duration
	// Pauses are those that servers have asked for; clients may share them. If it
	// is nil, each request learns of them by itself.
	Pauses *retryafter.Hosts
}

// Do calls attempt until it succeeds, fails for good, or was repeated often enough.
// The host is the one that attempt talks to, as it stands in its URL. The error is
// that of the last attempt, with the number of attempts, or the context's.
func (r Retry) Do(ctx context.Context, host string, attempt func() error) error {
	waited := time.Duration(0)
	for attempts := 1; ; attempts++ {
		if r.Pauses.Wait(ctx, host) != nil {
			return ended(ctx)
		}
		err := attempt()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ended(ctx)
		case attempts > r.max() || !IsTemporary(err):
			return countAttempts(err, attempts)
		}
		wait, asked := r.wait(attempts, err)
		if asked && waited+wait > maxWaited {
			return countAttempts(err, attempts)
		}
		if asked {
			r.Pauses.Ask(host, wait)
		}
		waited += wait
		if retryafter.Sleep(ctx, wait) != nil {
			return ended(ctx)
		}
	}
}

func (r Retry) max() int { return max(cmp.Or(r.Max, DefaultRetries), 0) }

// wait returns how long to wait before a retry, and whether the server asked for
// that. Other waits are random, so that clients that failed together do not return
// together.
func (r Retry) wait(retry int, err error) (wait time.Duration, asked bool) {
	if r.Backoff != nil {
		return r.Backoff(retry), false
	}
	if status, ok := errors.AsType[*StatusError](err); ok && status.Answer.RetryAfter.Asked {
		return status.Answer.RetryAfter.Wait, true
	}
	longest := cmp.Or(r.FirstWait, DefaultFirstWait) * time.Duration(min(1<<min(retry-1, 30), maxGrowth))
	return longest/2 + rand.N(longest/2+1), false
}

// IsTemporary reports whether what failed may succeed when it is repeated.
func IsTemporary(err error) bool {
	if status, ok := errors.AsType[*StatusError](err); ok {
		return retryafter.IsTemporary(status.Answer.StatusCode) && !status.Answer.RetryAfter.TooLong()
	}
	if is[*TemporaryError](err) {
		return true
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return !dns.IsNotFound
	}
	return is[*NetworkError](err) && !is[*tls.CertificateVerificationError](err) &&
		!is[tls.RecordHeaderError](err) && !is[tls.AlertError](err) && !is[x509.SystemRootsError](err)
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// ended returns the error of a context that has ended: [ErrTooSlow] if that is
// the reason. Reasons that others gave are not returned, because callers check for
// context.Canceled.
func ended(ctx context.Context) error {
	if errors.Is(context.Cause(ctx), ErrTooSlow) {
		return ErrTooSlow
	}
	return ctx.Err()
}
