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
	"github.com/cotterpin/cotter/internal/hostname"
	"github.com/cotterpin/cotter/internal/sanitize"
)

var ErrStalled = errors.New("the transfer is too slow")

// ErrTooSlow says that [Client].TotalTimeout has passed.
var ErrTooSlow = errors.New("the transfer takes too long")

type NetworkError struct {
	// URL is that of the request that failed, redacted; "" if it is not known. Redirected says that a server has named
	// it.
	URL        string
	Redirected bool
	// Attempts is 0 if it is not known.
	Attempts int
	Err      error
}

func (e *NetworkError) Error() string { return e.Reason() + inParentheses(e.Attempts) }

// Reason is without the number of attempts.
func (e *NetworkError) Reason() string {
	// net/http quotes malformed headers.
	return afterRedirect(e.URL, e.Redirected) + Printable(addrs.RedactText(describe(e.Err)))
}

// describe has better texts for certificates.
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

func (e *NetworkError) IsUntrusted() bool { return is[*tls.CertificateVerificationError](e.Err) }

func (e *NetworkError) Unwrap() error { return e.Err }

// IsPlainLoopback reports whether a server on this machine has answered a TLS handshake in http.
func IsPlainLoopback(at *url.URL, err error) bool {
	record, ok := errors.AsType[tls.RecordHeaderError](err)
	return hostname.IsLoopback(at) && (errors.Is(err, http.ErrSchemeMismatch) || ok && string(record.RecordHeader[:]) == "HTTP/")
}

// StatusError is what a server has answered to a request, if that is no success: the cause of all errors about one.
type StatusError struct {
	Answer *Answer
	// Message is the server's, if the caller has found one and made it printable.
	Message string
}

func (e *StatusError) Error() string {
	text := afterRedirect(addrs.Redact(e.Answer.URL().String()), len(e.Answer.Asked) > 1) + "the server answered " + e.Answer.Status()
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text + e.Answer.RetryAfter.Advice()
}

type RedirectError struct {
	// From is redacted; "" for the URL of the caller's request.
	From string
	// To is redacted; "" if it is not a valid URL, which could contain secrets in any place.
	To     string
	Reason string
	// Err is a [*DeniedError], or nil.
	Err error
}

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

func (e *RedirectError) Unwrap() error { return e.Err }

// TooLargeError says that a body is longer than Limit, in bytes.
type TooLargeError struct {
	Limit int64
	// Size is the announced size, or 0.
	Size int64
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the answer is larger than the limit of %d bytes", e.Limit)
}

// HeaderError can only be about a credential, such as a token with a line break.
type HeaderError struct{ Name string }

func (e *HeaderError) Error() string {
	return fmt.Sprintf("the value for the header %q contains characters that cannot be sent, such as a line break", e.Name)
}

// checkHeader refuses what net/http would refuse with an error that looks like one of the network.
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

// TemporaryError marks an error of a caller's function as one to be repeated.
type TemporaryError struct {
	// Attempts is 0 if it is not known.
	Attempts int
	Err      error
}

func (e *TemporaryError) Error() string { return e.Err.Error() + inParentheses(e.Attempts) }

func (e *TemporaryError) Unwrap() error { return e.Err }

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

func afterRedirect(to string, redirected bool) string {
	if !redirected {
		return ""
	}
	return fmt.Sprintf("after a redirect to %.*q: ", maxShown, to)
}

// withoutURL removes the error of net/http that has the URL with all its secrets.
func withoutURL(err error) error {
	for {
		wrapped, ok := errors.AsType[*url.Error](err)
		if !ok {
			return err
		}
		err = wrapped.Err
	}
}

const maxPrintable = 1024

// Printable returns a server's text in a form that is safe on a terminal and not too long.
func Printable(text string) string { return sanitize.Excerpt(text, maxPrintable) }
