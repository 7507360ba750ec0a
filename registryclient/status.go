package registryclient

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/httpx"
)

// refusal is the error for a status that is not success. missing is what a 404
// means for this request.
func (r *request) refusal(answer *httpx.Answer, missing string) *RequestError {
	sentinel, hint := ErrUnexpectedStatus, ""
	switch status := answer.StatusCode; {
	case status == http.StatusNotFound:
		sentinel, hint = ErrNotFound, missing
	case status == http.StatusUnauthorized:
		sentinel, hint = ErrUnauthorized, r.credentialsHint()
	case status == http.StatusForbidden:
		sentinel, hint = ErrForbidden, r.credentialsHint()+"; or the registry is asked too often: then try again later"
	case answer.RetryAfter.Wait > 0:
		hint = fmt.Sprintf("the registry asks to wait %s before the next try", answer.RetryAfter.Wait)
	case status == http.StatusTooManyRequests, status >= 500:
		hint = "try again later, or ask the registry's operator"
	default:
		hint = "the protocol has no such answer: check that the host is a module registry"
	}
	text := answer.Status()
	if said := strings.TrimSpace(r.withoutSecrets(string(answer.Body))); said != "" {
		text += fmt.Sprintf(", with the message %q", said)
	}
	// The sentinels' own words are in the status already, but errors.Is has to
	// find them.
	return r.failWith(answer, &statusError{text: text + "; " + hint, sentinel: sentinel, cause: r.credentialsErr})
}

// withoutSecrets takes out of a server's words what was sent to it: some repeat
// the credentials that they refuse.
func (r *request) withoutSecrets(text string) string {
	for _, secret := range r.secrets {
		_, token, _ := strings.Cut(secret, " ") // "Bearer TOKEN"
		for _, value := range []string{secret, token} {
			if len(value) >= minSecret {
				text = strings.ReplaceAll(text, value, redacted)
			}
		}
	}
	return text
}

const (
	redacted = "REDACTED"
	// minSecret is the length from which a secret is looked for. Shorter ones
	// are parts of words.
	minSecret = 6
)

// statusError is a text for people that errors.Is can take apart.
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

// credentialsHint says what was sent and how to send something else.
func (r *request) credentialsHint() string {
	switch {
	case r.credentialsErr != nil:
		return fmt.Sprintf("nothing was sent to prove who asks, because %s", httpx.Printable(r.credentialsErr.Error()))
	case r.authorized:
		return "the credentials that were sent do not suffice; to give others, " + howToAuthorize(r.pkg.Host)
	case r.url.Scheme != "https":
		return "credentials are sent over https only"
	}
	return "no credentials were sent; to give some, " + howToAuthorize(r.pkg.Host)
}

// howToAuthorize names the ways that the stock tools have. The encoding of the
// variable's name is theirs too: "_" for a dot and "__" for a hyphen. It has
// none for a port.
func howToAuthorize(host addrs.Hostname) string {
	block := fmt.Sprintf("add a credentials %q block with a token to the CLI configuration", string(host))
	if strings.Contains(string(host), ":") {
		return block
	}
	name := strings.NewReplacer(".", "_", "-", "__").Replace(string(host))
	return fmt.Sprintf("set the environment variable TF_TOKEN_%s, or %s", name, block)
}
