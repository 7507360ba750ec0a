package getmodules

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"time"
)

const (
	defaultRetries = 3
	firstBackoff   = 500 * time.Millisecond
	// maxRetryAfter bounds how long a server may make the user wait.
	maxRetryAfter = time.Minute
)

func (f *Fetcher) retries() int { return cmp.Or(f.Retries, defaultRetries) }

// backoff is how long to wait before a retry. What the server wishes counts if
// the user of the package has nothing to say about it.
func (f *Fetcher) backoff(retry int, err error) time.Duration {
	if f.Backoff != nil {
		return f.Backoff(retry)
	}
	if status, ok := errors.AsType[*StatusError](err); ok && status.retryAfter > 0 {
		return status.retryAfter
	}
	step := firstBackoff << min(retry-1, 4)
	return step/2 + rand.N(step)
}

// isTransient reports whether a failed request may succeed when it is repeated.
func isTransient(err error) bool {
	if status, ok := errors.AsType[*StatusError](err); ok {
		return status.StatusCode == http.StatusTooManyRequests ||
			status.StatusCode >= 500 && status.StatusCode != http.StatusNotImplemented
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

// retryAfter reads the header of RFC 9110, 10.2.3, where it gives seconds.
func retryAfter(header string) time.Duration {
	seconds, err := strconv.ParseUint(header, 10, 31)
	if err != nil {
		return 0
	}
	return min(time.Duration(seconds)*time.Second, maxRetryAfter)
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
