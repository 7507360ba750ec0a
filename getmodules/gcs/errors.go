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

	"github.com/cotterpin/cotter/getmodules/internal/objects"
	"github.com/cotterpin/cotter/internal/net/httpx"
	"github.com/cotterpin/cotter/internal/text/sanitize"
)

type statusError struct {
	*httpx.StatusError
	credentials *credentials
}

const (
	maxMessage = 64 << 10
	maxShown   = 600
)

func newStatusError(answer *httpx.Response, used *credentials) *statusError {
	text, _ := io.ReadAll(io.LimitReader(answer.Body, maxMessage))
	e := &statusError{StatusError: answer.StatusError(), credentials: used}
	// Errors about lists are in JSON, while errors about objects are plain text.
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
	e.Message = shown(message)
	return e
}

func (e *statusError) Unwrap() error { return e.StatusError }

// shown returns a server's text, escaped and truncated.
func shown(text string) string { return sanitize.Excerpt(strings.TrimSpace(text), maxShown) }

// tokenError says why there is no token. Failures of the network and of the server are temporary.
func tokenError(err error) error {
	const what = "the application default credentials of Google give no token"
	refused, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok || refused.Response == nil {
		err = fmt.Errorf("%s: %w", what, err)
		_, isRequest := errors.AsType[*url.Error](err)
		_, isNetwork := errors.AsType[*httpx.NetworkError](err)
		_, isRedirect := errors.AsType[*httpx.RedirectError](err)
		if isRequest && !isNetwork && !isRedirect { // a request that the google package sends itself
			return &httpx.TemporaryError{Err: err}
		}
		return err
	}
	status := refused.Response.StatusCode
	message := shown(cmp.Or(refused.ErrorDescription, string(refused.Body)))
	err = fmt.Errorf("%s: the server answered %d %s: %s", what, status, http.StatusText(status), message)
	if status >= http.StatusInternalServerError {
		return &httpx.TemporaryError{Err: err}
	}
	return &CredentialsError{err}
}

// CredentialsError says why Google's application default credentials could not be used.
type CredentialsError struct{ Err error }

func (e *CredentialsError) Error() string { return fmt.Sprint(e.Err) }

func (e *CredentialsError) Unwrap() error { return e.Err }

// explain says whether there were credentials, and wraps fs.ErrNotExist or fs.ErrPermission if they apply.
func explain(err error) error {
	status, ok := errors.AsType[*statusError](err)
	if !ok {
		return err
	}
	explained := objects.Explain(err, status.Answer.StatusCode)
	switch {
	case errors.Is(explained, fs.ErrPermission) && status.credentials.token == nil && status.credentials.absent != nil:
		return fmt.Errorf("%w: %w; none could be used (%w)", fs.ErrPermission, err, &CredentialsError{status.credentials.absent})
	}
	return explained
}
