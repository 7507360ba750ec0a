package registryclient

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/net/httpx"
	"github.com/cotterpin/cotter/internal/text/sanitize"
	"github.com/cotterpin/cotter/versions"
)

// Kinds of failure, for errors.Is.
var (
	// ErrNotFound can also mean that the registry hides the subject from requests without credentials.
	ErrNotFound = errors.New("not found")
	// ErrUnsupportedPlatform says that the registry has no package of the version for the platform.
	ErrUnsupportedPlatform = errors.New("no package for this platform")
	// ErrUnauthorized says that the registry requires credentials, or other ones.
	ErrUnauthorized = errors.New("unauthorized")
	// ErrForbidden says that the credentials do not suffice. Some servers also limit rates with this
	// status.
	ErrForbidden        = errors.New("forbidden")
	ErrUnexpectedStatus = errors.New("unexpected status")
	ErrInvalidAnswer    = errors.New("the registry's answer is not valid")
	// ErrRefusedLocation is for locations that registries must not point to; see the package comment.
	ErrRefusedLocation = errors.New("refused the location that the registry gave")
)

// ProtocolError is returned if stock tools support none of a version's plugin protocols.
type ProtocolError struct {
	// Protocols are as the registry writes them.
	Protocols []string
}

func (e *ProtocolError) Error() string {
	return fmt.Sprintf("it has the plugin protocol %s; stock tools support 5 and 6", strings.Join(e.Protocols, ", "))
}

// RequestError is returned if a request to a registry failed. It wraps a sentinel error of
// this package, or the error of [Services], of the network or of the context.
type RequestError struct {
	// Package is zero in errors about a provider, and Provider in those about a module.
	Package  addrs.ModuleRegistryPackage
	Provider addrs.Provider
	// Version is zero if the listing of versions failed.
	Version versions.Version
	// Platform is zero unless the error is about a provider's package.
	Platform addrs.Platform
	// URL is the requested URL, without credentials; "" if no request was made.
	URL string
	// StatusCode is the final status; zero if there was no answer.
	StatusCode      int
	CredentialsSent bool
	// Message is what the server says in an answer that is not a success, without the credentials of the
	// request. Of JSON it is the texts of the errors.
	Message string
	// RetryAfter is how long the server asks to wait before the next request; 0 if it does not.
	RetryAfter time.Duration
	Err        error
}

func (e *RequestError) Error() string { return e.Subject() + ": " + e.Cause() }

// Cause is the text without Subject.
func (e *RequestError) Cause() string {
	var status *httpx.StatusError
	var network *httpx.NetworkError
	if e.URL == "" || errors.As(e.Err, &status) || errors.As(e.Err, &network) { // their texts have the host
		return fmt.Sprint(e.Err)
	}
	return fmt.Sprintf("GET %s: %v", e.URL, e.Err)
}

// Subject returns the beginning of the error text: "provider example.com/acme/cloud 1.2.0 for linux_amd64".
func (e *RequestError) Subject() string {
	what := "module " + e.Package.String()
	if e.Provider != (addrs.Provider{}) {
		what = "provider " + e.Provider.String()
	}
	if !e.Version.IsZero() {
		what += " " + e.Version.String()
	}
	if e.Platform != (addrs.Platform{}) {
		what += " for " + e.Platform.String()
	}
	return what
}

func (e *RequestError) Unwrap() error { return e.Err }

// refusal returns the error for a status that is not a success. missing is what a 404 means.
func (r *request) refusal(answer *httpx.Answer, missing string) *RequestError {
	sentinel, meaning := ErrUnexpectedStatus, ""
	switch answer.StatusCode {
	case http.StatusNotFound:
		if sentinel, meaning = ErrNotFound, missing; r.platform != (addrs.Platform{}) {
			sentinel = ErrUnsupportedPlatform
		}
	case http.StatusUnauthorized:
		sentinel, meaning = ErrUnauthorized, r.sent(answer)
	case http.StatusForbidden:
		sentinel, meaning = ErrForbidden, r.sent(answer)
	}
	status := &httpx.StatusError{Answer: answer, Meaning: meaning, Message: strings.TrimSpace(r.withoutSecrets(messageIn(answer.Body)))}
	// The text does not repeat the sentinel, which the status implies.
	failure := r.failWith(answer, &statusError{status, []error{sentinel, status, r.credentialsErr}})
	failure.Message, failure.RetryAfter = status.Message, answer.RetryAfter.Wait
	return failure
}

// messageIn returns a whole body that is not JSON, or the texts in the members that registries use for
// errors.
func messageIn(body []byte) string {
	var object map[string]any
	switch text := bytes.TrimSpace(body); {
	case json.Unmarshal(text, &object) == nil:
		return strings.Join(errorTexts(object), "; ")
	case bytes.HasPrefix(text, []byte("{")), bytes.HasPrefix(text, []byte("[")):
		return "" // it was cut off
	}
	return string(body)
}

// errorTexts returns the texts in {"errors": ["..."]}, with objects in the list as in JSON:API, and in what
// other servers write.
func errorTexts(value any) (texts []string) {
	switch value := value.(type) {
	case string:
		return []string{value}
	case []any:
		for _, each := range value {
			texts = append(texts, errorTexts(each)...)
		}
	case map[string]any:
		for _, name := range []string{"errors", "error", "message", "detail", "title"} {
			if texts := errorTexts(value[name]); len(texts) > 0 {
				return texts
			}
		}
	}
	return texts
}

// withoutSecrets removes the credentials of the request, which some servers repeat in messages.
func (r *request) withoutSecrets(text string) string {
	for _, header := range r.secrets {
		_, token, _ := strings.Cut(header, " ") // "Bearer TOKEN"
		text = sanitize.RemoveSecrets(text, header, token)
	}
	return text
}

type statusError struct {
	*httpx.StatusError
	wraps []error // some are nil
}

func (e *statusError) Unwrap() []error {
	return slices.DeleteFunc(slices.Clone(e.wraps), func(err error) bool { return err == nil })
}

// sent says whether a request that was refused had credentials, which belong to the host in the address, and otherwise
// why not.
func (r *request) sent(answer *httpx.Answer) string {
	text := answer.SentFor(string(r.host()))
	switch {
	case answer.Authorized:
	case r.credentialsErr != nil:
		text += fmt.Sprintf(", because %s", httpx.Printable(r.credentialsErr.Error()))
	case r.url.Scheme != "https":
		text += ", because they are sent over https only"
	}
	return text
}
