package registryclient

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/httpx"
	"github.com/cotterpin/cotter/internal/secret"
)

// refusal returns the error for a status that is not a success. missing is the hint for a
// 404.
func (r *request) refusal(answer *httpx.Answer, missing string) *RequestError {
	sentinel, hint := ErrUnexpectedStatus, ""
	switch status := answer.StatusCode; {
	case status == http.StatusNotFound:
		sentinel, hint = r.notFound(), missing
	case status == http.StatusUnauthorized:
		sentinel, hint = ErrUnauthorized, r.credentialsHint()
	case status == http.StatusForbidden:
		sentinel, hint = ErrForbidden, r.credentialsHint()+"; if the registry limits the rate of requests, try again later"
	case answer.RetryAfter.Wait > 0:
		hint = fmt.Sprintf("the registry asks to wait %s before the next request", answer.RetryAfter.Wait)
	case status == http.StatusTooManyRequests, status >= 500:
		hint = "try again later, or ask the registry's operator"
	default:
		hint = "the protocol does not define this status: check that the host is a registry"
	}
	text := answer.Status()
	message := strings.TrimSpace(r.withoutSecrets(string(answer.Body)))
	if message != "" {
		text += fmt.Sprintf(", with the message %q", message)
	}
	// The text does not repeat the sentinel, because the status has the same meaning.
	failure := r.failWith(answer, &statusError{text: text + "; " + hint, sentinel: sentinel, cause: r.credentialsErr})
	failure.Message, failure.RetryAfter = message, answer.RetryAfter.Wait
	return failure
}

// withoutSecrets removes the credentials of the request from a server's message, because
// some servers repeat them.
func (r *request) withoutSecrets(text string) string {
	for _, header := range r.secrets {
		_, token, _ := strings.Cut(header, " ") // "Bearer TOKEN"
		text = secret.Remove(text, header, token)
	}
	return text
}

// statusError is a message that wraps a sentinel and a cause.
type statusError struct {
	text            string
	sentinel, cause error
}

func (e *statusError) Error() string { return e.text }

func (e *statusError) Unwrap() []error {
	if e.cause == nil {
		return []error{e.sentinel}
	}
	return []error{e.sentinel, e.cause}
}

// credentialsHint describes the credentials that were sent, and how to set others.
func (r *request) credentialsHint() string {
	switch {
	case r.credentialsErr != nil:
		return fmt.Sprintf("no credentials were sent, because %s", httpx.Printable(r.credentialsErr.Error()))
	case r.authorized:
		return "the credentials that were sent are not sufficient; to set others, " + howToAuthorize(r.host())
	case r.url.Scheme != "https":
		return "credentials are sent over https only"
	}
	return "no credentials were sent; to set them, " + howToAuthorize(r.host())
}

// howToAuthorize names the settings of the stock tools. In the names of environment
// variables, they write "_" for a dot and "__" for a hyphen. They have no encoding for a
// port.
func howToAuthorize(host addrs.Hostname) string {
	block := fmt.Sprintf("add a credentials %q block with a token to the CLI configuration", string(host))
	if strings.Contains(string(host), ":") {
		return block
	}
	name := strings.NewReplacer(".", "_", "-", "__").Replace(string(host))
	return fmt.Sprintf("set the environment variable TF_TOKEN_%s, or %s", name, block)
}
