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
	// DefaultRetries is the default number of retries of a failed request.
	DefaultRetries = 3
	// DefaultFirstWait is the default upper bound of the first wait.
	DefaultFirstWait = 500 * time.Millisecond
	// maxWaited limits the sum of all waits of one request.
	maxWaited = 5 * time.Minute
	// maxGrowth limits the growth of waits that no server asked for.
	maxGrowth = 16
)

// Retry determines how often and after which waits an operation is repeated. The zero value uses
// the defaults.
type Retry struct {
	// Max is the maximum number of retries of a failed request. 0 means DefaultRetries, and a
	// negative number means no retries.
	Max int
	// FirstWait is the maximum wait before the first retry. The maximum doubles with each retry,
	// up to 16 times FirstWait. 0 means DefaultFirstWait.
	FirstWait time.Duration
	// Backoff returns the wait before a retry. The number of the first retry is 1. It replaces
	// FirstWait and the pauses that servers ask for. It may be nil.
	Backoff func(retry int) time.Duration
	// Pauses are the pauses that servers have asked for. Clients may share them. If it is nil, a
	// pause applies only to the request that was told about it.
	Pauses *retryafter.Hosts
}

// Do calls attempt until it succeeds, fails permanently, or has been repeated often enough. host
// is the host that attempt talks to, in the form in which URLs contain it. Do returns the error
// of the last attempt with the number of attempts, or the context's error.
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

// wait returns the time to wait before a retry. asked reports whether the server asked for it.
// Other waits are random, so that clients that failed together do not retry together.
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

// IsTemporary reports whether a failed operation may succeed if it is repeated.
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

// ended returns the error of a context that has ended, or [ErrTooSlow] if that is the cause. It
// does not return other causes, because callers check for context.Canceled.
func ended(ctx context.Context) error {
	if errors.Is(context.Cause(ctx), ErrTooSlow) {
		return ErrTooSlow
	}
	return ctx.Err()
}
