package httpx

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/net/hostname"
	"github.com/cotterpin/cotter/internal/text/sanitize"
)

var ErrStalled = errors.New("the transfer is too slow")

// ErrTooSlow says that [Client].TotalTimeout has passed.
var ErrTooSlow = errors.New("the transfer takes too long")

// NetworkError says that there was no answer to a request.
type NetworkError struct {
	// URL is that of the request that failed, redacted. Redirected says that a server has named it.
	URL        string
	Redirected bool
	// Attempts is 0 if it is not known.
	Attempts int
	Err      error
}

// Host is that of the URL; or the one whose name could not be resolved, such as that of a proxy.
func (e *NetworkError) Host() string {
	host := hostname.URLIn(e.URL).Host
	if name, ok := errors.AsType[*net.DNSError](e.Err); ok && name.Name != "" && name.Name != (&url.URL{Host: host}).Hostname() {
		return name.Name
	}
	return cmp.Or(host, "the server")
}

func (e *NetworkError) Error() string { return e.Common() + e.Suffix() }

// Suffix is the end of the text, about this request alone.
func (e *NetworkError) Suffix() string { return inAttempts(e.Attempts) + pointedTo(e.Redirected) }

func pointedTo(redirected bool) string {
	if !redirected {
		return ""
	}
	return "; a redirect points there"
}

// Common is the beginning of the text, which is the same for all requests to the host.
func (e *NetworkError) Common() string {
	if certificate, ok := errors.AsType[*tls.CertificateVerificationError](e.Err); ok {
		return hostname.UntrustedCertificate(e.Host(), certificateFault(certificate.Err))
	}
	return hostname.Unreachable(e.Host(), e.reason())
}

func (e *NetworkError) reason() string {
	var timeout net.Error
	reason := ""
	name, isName := errors.AsType[*net.DNSError](e.Err)
	switch {
	case isName && name.IsNotFound:
		return "there is no such host"
	case isName:
		return "its address cannot be looked up"
	case errors.Is(e.Err, syscall.ECONNREFUSED):
		reason = "connection refused"
	case errors.Is(e.Err, syscall.ECONNRESET):
		reason = "the connection was reset"
	case errors.Is(e.Err, syscall.ENETUNREACH), errors.Is(e.Err, syscall.EHOSTUNREACH):
		reason = "there is no route to it"
	case errors.Is(e.Err, ErrStalled), errors.Is(e.Err, ErrTooSlow):
	case errors.As(e.Err, &timeout) && timeout.Timeout():
		reason = "no answer in time"
	}
	if reason == "" {
		return Printable(addrs.RedactText(e.Err.Error())) // net/http quotes malformed headers
	}
	if at := proxyOf(e.Err); at != "" {
		reason += " by the proxy " + at
	}
	return reason
}

// proxyOf returns the address of the proxy that was not reached, or "".
func proxyOf(err error) string {
	failed, ok := errors.AsType[*net.OpError](err)
	if !ok || failed.Op != "proxyconnect" {
		return ""
	}
	if dial, ok := errors.AsType[*net.OpError](failed.Err); ok && dial.Addr != nil {
		return dial.Addr.String()
	}
	return "of the environment"
}

func certificateFault(err error) string {
	var name x509.HostnameError
	var unknown x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &name):
		return "it " + strings.TrimPrefix(name.Error(), "x509: certificate ")
	case errors.As(err, &unknown):
		return "it is signed by an unknown authority"
	case !errors.As(err, &invalid) || invalid.Reason != x509.Expired || invalid.Cert == nil:
		return Printable(strings.TrimPrefix(err.Error(), "x509: "))
	case time.Now().Before(invalid.Cert.NotBefore):
		return "it is valid only from " + minute(invalid.Cert.NotBefore) + " on"
	}
	return "it expired on " + minute(invalid.Cert.NotAfter)
}

func minute(at time.Time) string { return at.UTC().Format("2006-01-02 15:04 MST") }

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
	// Meaning is what the caller knows of the answer, such as "it has no module acme/net/aws"; "" if the status says all.
	Meaning string
	// Message is the server's, if the caller has found one and made it printable.
	Message string
}

func (e *StatusError) Error() string { return e.Common() + e.Suffix() }

// Suffix is the end of the text, about this request alone.
func (e *StatusError) Suffix() string {
	text := ""
	if e.meaning() == "" {
		text = " for " + addrs.Redact(e.Answer.URL().EscapedPath())
	}
	text += inAttempts(e.Answer.Attempts) + pointedTo(len(e.Answer.Asked) > 1)
	if e.Message != "" && !strings.HasPrefix(e.Message, fmt.Sprint(e.Answer.StatusCode)) && !strings.EqualFold(e.Message, http.StatusText(e.Answer.StatusCode)) {
		text += fmt.Sprintf("; it says %q", e.Message)
	}
	if wait := e.Answer.RetryAfter.Wait; wait > 0 {
		text += fmt.Sprintf("; it asks to wait %v before the next request", wait.Round(time.Second))
	}
	return text
}

// Common is the beginning of the text, which is the same for all requests that the host answers so.
func (e *StatusError) Common() string {
	text := cmp.Or(e.Answer.URL().Host, "the server") + " answered " + e.Answer.Status()
	if meaning := e.meaning(); meaning != "" {
		text += ": " + meaning
	}
	return text
}

func (e *StatusError) meaning() string {
	if e.Meaning != "" || !e.IsRefusal() {
		return e.Meaning
	}
	return e.Answer.SentFor(e.Answer.URL().Host)
}

// IsRefusal is for servers that require credentials, or other ones.
func (e *StatusError) IsRefusal() bool {
	return e.Answer.StatusCode == http.StatusUnauthorized || e.Answer.StatusCode == http.StatusForbidden
}

// PageError says that a server has answered with a page for humans, such as one for a login.
type PageError struct {
	// URL is that of the answer, redacted; "" if the caller names it.
	URL         string
	ContentType string
	// Is is what the page means to the caller, or nil.
	Is error
}

func (e *PageError) Error() string { return e.Common() }

func (e *PageError) Unwrap() error { return e.Is }

// Common is Error: the text does not depend on the request.
func (e *PageError) Common() string {
	return fmt.Sprintf("%s answers with a web page (%s)", cmp.Or(e.Host(), "the server"), e.ContentType)
}

// Host is "" if it is not known.
func (e *PageError) Host() string { return hostname.URLIn(e.URL).Host }

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

func (e *TemporaryError) Error() string { return e.Err.Error() + inAttempts(e.Attempts) }

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

func inAttempts(n int) string {
	if n < 2 {
		return ""
	}
	return fmt.Sprintf(" (%d attempts)", n)
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
