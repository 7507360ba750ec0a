package httpx

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/cotterpin/cotter/internal/process/ctxerr"
)

const (
	// DefaultAttempts is how often a request is sent at most.
	DefaultAttempts  = 4
	DefaultFirstWait = 500 * time.Millisecond
	// maxWaited limits the sum of all waits of one request.
	maxWaited = 5 * time.Minute
	// maxGrowth limits waits that no server asked for.
	maxGrowth = 16
)

// Retry determines how often and after which waits an operation is repeated.
type Retry struct {
	// Attempts is how often a request is sent at most. 0 means DefaultAttempts; 1 or less means no retry.
	Attempts int
	// FirstWait is the maximum of the first wait, which doubles with each retry up to 16 times. 0 means
	// DefaultFirstWait.
	FirstWait time.Duration
	// Backoff returns the wait before a retry, from 1, in place of FirstWait and the pauses that servers
	// ask for.
	Backoff func(retry int) time.Duration
	// Pauses may be shared by clients. Without it, a pause is only for the request whose answer asked for
	// it.
	Pauses *Pauses
}

// Do calls attempt until it succeeds, fails permanently, or was repeated often enough. host is that of its
// URL. The error is that of the last attempt, with their number, or the context's error and its cause.
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
		case attempts >= r.attempts() || !IsTemporary(err):
			return countAttempts(err, attempts)
		}
		wait, asked := r.wait(attempts, err)
		if asked && waited+wait > maxWaited {
			return countAttempts(err, attempts)
		}
		if asked {
			r.Pauses.Add(host, wait)
		}
		waited += wait
		if sleep(ctx, wait) != nil {
			return ended(ctx)
		}
	}
}

func (r Retry) attempts() int { return max(cmp.Or(r.Attempts, DefaultAttempts), 1) }

// wait reports whether the server asked. Other waits are random, so that clients that failed together do
// not retry together.
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

// isTemporaryStatus is true for 429, and for 5xx except 501.
func isTemporaryStatus(status int) bool {
	return status == http.StatusTooManyRequests || status >= 500 && status != http.StatusNotImplemented
}

func IsTemporary(err error) bool {
	if status, ok := errors.AsType[*StatusError](err); ok {
		return isTemporaryStatus(status.Answer.StatusCode) && !status.Answer.RetryAfter.TooLong()
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

// ended returns a context's error with its cause, or only [ErrTooSlow].
func ended(ctx context.Context) error {
	if errors.Is(context.Cause(ctx), ErrTooSlow) {
		return ErrTooSlow
	}
	return ctxerr.Of(ctx)
}

// MaxPause is the longest pause to wait for. After a longer one the failure is reported.
const MaxPause = time.Minute

// RetryAfter is the pause in a header Retry-After (RFC 9110, section 10.2.3).
type RetryAfter struct {
	Wait  time.Duration
	Asked bool
}

// ParseRetryAfter parses seconds or a date; a date in the past is no pause, and anything else counts as
// absent.
func ParseRetryAfter(header string) RetryAfter {
	seconds, err := strconv.ParseUint(header, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange), err == nil && seconds > math.MaxInt64/uint64(time.Second):
		return RetryAfter{math.MaxInt64, true}
	case err == nil:
		return RetryAfter{time.Duration(seconds) * time.Second, true}
	}
	at, err := http.ParseTime(header)
	if err != nil {
		return RetryAfter{}
	}
	return RetryAfter{max(time.Until(at), 0), true}
}

func (r RetryAfter) TooLong() bool { return r.Asked && r.Wait > MaxPause }

// Pauses has the pauses that hosts have asked for. All requests to the host wait: otherwise each would be
// refused in turn, and servers tend to ask for longer pauses then. A host is its name and port as in URLs.
// A Pauses is safe for concurrent use; nil has none.
type Pauses struct {
	mu    sync.Mutex
	until map[string]time.Time
}

// Add limits the pause to [MaxPause].
func (p *Pauses) Add(host string, wait time.Duration) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.until == nil {
		p.until = make(map[string]time.Time)
	}
	if end := time.Now().Add(min(wait, MaxPause)); end.After(p.until[host]) {
		p.until[host] = end
	}
}

// Wait returns an error only if ctx ends first.
func (p *Pauses) Wait(ctx context.Context, host string) error {
	if err := ctx.Err(); err != nil || p == nil {
		return err
	}
	p.mu.Lock()
	left := time.Until(p.until[host])
	p.mu.Unlock()
	if left <= 0 {
		return nil
	}
	return sleep(ctx, left)
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
