package httpx

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/minrate"
	"github.com/cotterpin/cotter/internal/sanitize"
)

// ErrStalled says that an answer did not keep to [Client].Floor.
var ErrStalled = minrate.ErrStalled

// ErrTooSlow says that a request was not completed within [Client].TotalTimeout.
var ErrTooSlow = errors.New("the transfer takes too long")

// NetworkError is a request that failed on its way, or an answer that did.
type NetworkError struct {
	// RedirectedTo is what was asked when it failed, redacted; "" if that is
	// the URL of the caller's request.
	RedirectedTo string
	// Attempts is how often it was tried; 0 if that is not known.
	Attempts int
	Err      error
}

func (e *NetworkError) Error() string {
	// net/http repeats headers that are malformed.
	return afterRedirect(e.RedirectedTo) + Printable(addrs.RedactText(describe(e.Err))) + inParentheses(e.Attempts)
}

// describe words the reasons for which a certificate is not accepted.
func describe(err error) string {
	certificate, ok := errors.AsType[*tls.CertificateVerificationError](err)
	if !ok {
		return err.Error()
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](certificate.Err); ok {
		return "the server's certificate is signed by an unknown authority"
	}
	return "the server's certificate cannot be trusted: " + strings.TrimPrefix(certificate.Err.Error(), "x509: ")
}

// IsUntrusted reports whether the server's certificate was not accepted.
func (e *NetworkError) IsUntrusted() bool { return is[*tls.CertificateVerificationError](e.Err) }

func (e *NetworkError) Unwrap() error { return e.Err }

// StatusError is an answer with a status that is not wanted.
type StatusError struct {
	Answer *Answer
	// Message is what the server says about it, if the caller has found that and
	// made it fit to be shown.
	Message string
}

func (e *StatusError) Error() string {
	text := afterRedirect(e.RedirectedTo()) + "the server answered " + e.Answer.Status()
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text + e.Answer.RetryAfter.Advice()
}

// RedirectedTo returns the URL that gave the answer, redacted, if that is not the
// one that was asked for first; otherwise "".
func (e *StatusError) RedirectedTo() string { return lastRedirect(e.Answer.Asked) }

// RedirectError is a redirect that was not followed.
type RedirectError struct {
	// From is the URL that redirects, redacted; "" if that is the URL of the
	// caller's request.
	From string
	// To is the target, redacted; "" if it is not a valid URL, as it may hold
	// secrets in any place then.
	To     string
	Reason string
}

// maxShown is how many characters of a URL a message repeats.
const maxShown = 256

func (e *RedirectError) Error() string {
	text := "the server redirects"
	if e.From != "" {
		text = fmt.Sprintf("%.*q redirects", maxShown, e.From)
	}
	if e.To != "" {
		text += fmt.Sprintf(" to %.*q", maxShown, e.To)
	}
	return text + ": " + e.Reason
}

// TooLargeError is a body that is longer than its limit.
type TooLargeError struct{ Limit int64 }

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the answer is larger than the limit of %d bytes", e.Limit)
}

// HeaderError is a header that cannot be sent. Only credentials can be the reason:
// a token with a line break, for example.
type HeaderError struct{ Name string }

func (e *HeaderError) Error() string {
	return fmt.Sprintf("the value for the header %q holds characters that cannot be sent, such as a line break", e.Name)
}

// checkHeader finds what net/http would refuse in a way that looks like a failure
// of the network.
func checkHeader(header http.Header) error {
	for name, values := range header {
		for _, value := range values {
			if !httpguts.ValidHeaderFieldValue(value) {
				return &HeaderError{Name: name}
			}
		}
	}
	return nil
}

// TemporaryError marks an error of a caller's function as one that may not occur
// again.
type TemporaryError struct {
	// Attempts is how often it was tried; 0 if that is not known.
	Attempts int
	Err      error
}

func (e *TemporaryError) Error() string { return e.Err.Error() + inParentheses(e.Attempts) }

func (e *TemporaryError) Unwrap() error { return e.Err }

// countAttempts puts the number of attempts into an error.
func countAttempts(err error, attempts int) error {
	if temporary, ok := errors.AsType[*TemporaryError](err); ok {
		temporary.Attempts = attempts
		return err
	}
	if network, ok := errors.AsType[*NetworkError](err); ok {
		network.Attempts = attempts
	}
	if status, ok := errors.AsType[*StatusError](err); ok {
		status.Answer.Attempts = attempts
	}
	return err
}

func inParentheses(attempts int) string {
	if attempts < 2 {
		return ""
	}
	return fmt.Sprintf(" (after %d attempts)", attempts)
}

func afterRedirect(to string) string {
	if to == "" {
		return ""
	}
	return fmt.Sprintf("after a redirect to %.*q: ", maxShown, to)
}

// lastRedirect returns the last of the URLs that were asked, redacted; "" if it is
// the only one.
func lastRedirect(asked []*url.URL) string {
	if len(asked) < 2 {
		return ""
	}
	return addrs.Redact(asked[len(asked)-1].String())
}

// withoutURL removes the error of net/http that repeats the URL with all its
// secrets.
func withoutURL(err error) error {
	for {
		wrapped, ok := errors.AsType[*url.Error](err)
		if !ok {
			return err
		}
		err = wrapped.Err
	}
}

// maxPrintable is the longest text of a server that a message repeats, in bytes.
const maxPrintable = 1024

// Printable makes a server's text fit for a message: harmless on a terminal, and
// not too long.
func Printable(text string) string { return sanitize.Excerpt(text, maxPrintable) }
