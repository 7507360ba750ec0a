package httpapi

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"time"

	"github.com/cotterpin/cotter/internal/pause"
)

const (
	// MaxRetryAfter is the longest wait that a server may ask for. One that
	// asks for more will not answer sooner, so its failure is reported at once.
	MaxRetryAfter = pause.Longest
	// maxWaited bounds all waits of one request together.
	maxWaited = 5 * time.Minute
	// maxGrowth bounds the growth of the waits that no server asked for.
	maxGrowth = 16
)

// policy decides over the attempts of one request.
type policy struct {
	firstWait time.Duration
	waited    time.Duration
	attempts  int
}

// retry reports whether to ask again. The error is for retryablehttp, which
// returns it in the place of the request's.
func (p *policy) retry(ctx context.Context, resp *http.Response, err error) (bool, error) {
	switch {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case err != nil:
		return !isPermanent(err), nil
	case !pause.IsTemporary(resp.StatusCode):
		return false, nil
	}
	wait, _ := retryAfter(resp)
	return wait <= MaxRetryAfter && p.waited+wait <= maxWaited, nil
}

// wait is how long to wait before the attempt behind the given one, which
// counts from zero, and whether the server asked for it. Otherwise it is random,
// so that clients which failed together do not come back together.
func (p *policy) wait(attempt int, resp *http.Response) (wait time.Duration, asked bool) {
	if resp != nil && pause.IsTemporary(resp.StatusCode) {
		wait, asked = retryAfter(resp)
	}
	if !asked {
		longest := p.firstWait * time.Duration(min(1<<min(attempt, 30), maxGrowth))
		wait = longest/2 + rand.N(longest/2+1)
	}
	p.waited += wait
	return wait, asked
}

func (c *Client) policy() *policy {
	return &policy{firstWait: cmp.Or(c.RetryWait, DefaultRetryWait)}
}

// isPermanent knows the failures that would only be repeated. Any other one
// may be of the network, and is tried again.
func isPermanent(err error) bool {
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return dns.IsNotFound
	}
	return errors.Is(err, ErrNoLength) || is[*TooLargeError](err) || is[*RedirectError](err) ||
		is[*tls.CertificateVerificationError](err) || is[tls.RecordHeaderError](err) ||
		is[tls.AlertError](err) || is[x509.SystemRootsError](err)
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// retryAfter is the pause that a response asks for.
func retryAfter(resp *http.Response) (wait time.Duration, asked bool) {
	return pause.Asked(resp.Header.Get("Retry-After"))
}
