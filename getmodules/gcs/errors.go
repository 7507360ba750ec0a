package gcs

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/oauth2"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/objects"
	"github.com/cotterpin/cotter/internal/pause"
	"github.com/cotterpin/cotter/internal/sanitize"
)

// statusError is an answer that is not the one that was wanted.
type statusError struct {
	status int
	// message is the server's own, without secrets and escaped; "" if it gave
	// none.
	message string
	pause   pause.Request
	// credentials are those of the request.
	credentials *credentials
}

// maxShown bounds the part of the server's own words in a message.
const maxShown = 600

func newStatusError(answer *http.Response, used *credentials) *statusError {
	e := &statusError{status: answer.StatusCode, pause: pause.Requested(answer.Header.Get("Retry-After")), credentials: used}
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxMessage))
	if err != nil {
		return e // the status says enough
	}
	// Lists fail in JSON, objects in plain text.
	var coded struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	message := string(text)
	if json.Unmarshal(text, &coded) == nil && coded.Error.Message != "" {
		message = coded.Error.Message
	}
	if used.token != nil {
		message = sanitize.Redact(message, []string{used.token.AccessToken})
	}
	e.message = shown(message)
	return e
}

// shown is a server's text as far as it is fit to be shown.
func shown(text string) string {
	text = sanitize.Escape(strings.TrimSpace(text))
	if len(text) > maxShown {
		text = text[:maxShown] + "[...]"
	}
	return text
}

// tokenError is about a token that was not given. What the server says is made
// fit to be shown; what may go better next time is an error of the network.
func tokenError(err error) error {
	const what = "the application default credentials of Google give no token"
	refused, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok || refused.Response == nil {
		err = fmt.Errorf("%s: %w", what, err)
		if _, ok := errors.AsType[*url.Error](err); ok {
			return &networkError{err}
		}
		return err
	}
	status := refused.Response.StatusCode
	message := shown(cmp.Or(refused.ErrorDescription, string(refused.Body)))
	err = fmt.Errorf("%s: the server answered %d %s: %s", what, status, http.StatusText(status), message)
	if status >= http.StatusInternalServerError {
		return &networkError{err}
	}
	return fmt.Errorf("%w; renew them by \"gcloud auth application-default login\"", err)
}

func (e *statusError) Error() string {
	text := fmt.Sprintf("the server answered %d %s", e.status, http.StatusText(e.status))
	if e.message != "" {
		text += ": " + e.message
	}
	return text + e.pause.Advice()
}

// networkError is a request that failed on its way.
type networkError struct{ err error }

func (e *networkError) Error() string { return e.err.Error() }
func (e *networkError) Unwrap() error { return e.err }

// explain says what to do about an error, where that is known, and makes
// fs.ErrNotExist and fs.ErrPermission of what means these.
func explain(err error) error {
	if errors.Is(err, objects.ErrNone) {
		return fmt.Errorf("%w: %w", getmodules.ErrEmpty, err)
	}
	status, ok := errors.AsType[*statusError](err)
	if !ok {
		return err
	}
	switch {
	case status.status == http.StatusNotFound:
		return fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	case status.status != http.StatusUnauthorized && status.status != http.StatusForbidden:
		return err
	case status.credentials.token != nil:
		return fmt.Errorf("%w: %w; check the credentials that are used, and what they allow", fs.ErrPermission, err)
	case status.credentials.absent != nil:
		return fmt.Errorf("%w: %w; the request had no credentials, because none could be used (%w); get some by \"gcloud auth application-default login\", or name a file of them by GOOGLE_APPLICATION_CREDENTIALS", fs.ErrPermission, err, status.credentials.absent)
	}
	return fmt.Errorf("%w: %w; the request had no credentials", fs.ErrPermission, err)
}
