package gcs

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"time"

	"github.com/cotterpin/cotter/internal/pause"
)

const (
	defaultRetries = 5
	firstBackoff   = 500 * time.Millisecond
)

func (g *Getter) retries() int { return max(0, cmp.Or(g.Retries, defaultRetries)) }

// backoff is how long to wait before a retry that the server has no say in.
func (g *Getter) backoff(retry int) time.Duration {
	if g.Backoff != nil {
		return g.Backoff(retry)
	}
	step := firstBackoff << min(retry-1, 5)
	return step/2 + rand.N(step)
}

// isTransient reports whether a failed request may succeed when it is repeated.
func isTransient(err error) bool {
	if status, ok := errors.AsType[*statusError](err); ok {
		return !status.pause.TooLong() && (status.status == http.StatusRequestTimeout || pause.IsTemporary(status.status))
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

// tried says how often something was tried.
func tried(err error, times int) error {
	if times == 1 {
		return err
	}
	return fmt.Errorf("%w, %d times", err, times)
}
