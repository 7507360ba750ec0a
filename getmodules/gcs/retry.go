package gcs

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"time"
)

const (
	defaultRetries = 5
	firstBackoff   = 500 * time.Millisecond
	// maxRetryAfter bounds how long a server may make the user wait.
	maxRetryAfter = time.Minute
)

func (g *Getter) retries() int { return max(0, cmp.Or(g.Retries, defaultRetries)) }

// backoff is how long to wait before a retry. What the server wishes counts if
// the user of the package has nothing to say about it.
func (g *Getter) backoff(retry int, err error) time.Duration {
	if g.Backoff != nil {
		return g.Backoff(retry)
	}
	if status, ok := errors.AsType[*statusError](err); ok && status.retryAfter > 0 {
		return status.retryAfter
	}
	step := firstBackoff << min(retry-1, 5)
	return step/2 + rand.N(step)
}

// isTransient reports whether a failed request may succeed when it is repeated.
func isTransient(err error) bool {
	if status, ok := errors.AsType[*statusError](err); ok {
		return status.status == http.StatusTooManyRequests || status.status == http.StatusRequestTimeout ||
			status.status >= 500 && status.status != http.StatusNotImplemented
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok || errors.Is(err, errRedirect) {
		return false
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return !dns.IsNotFound
	}
	_, ok := errors.AsType[*networkError](err)
	return ok || errors.Is(err, errChecksum)
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

// tried says how often something was tried.
func tried(err error, times int) error {
	if times == 1 {
		return err
	}
	return fmt.Errorf("%w, %d times", err, times)
}
