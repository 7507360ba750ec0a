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
	"github.com/cotterpin/cotter/internal/httpx"
	"github.com/cotterpin/cotter/internal/objects"
	"github.com/cotterpin/cotter/internal/sanitize"
)

// statusError is an answer with a status that is not wanted.
type statusError struct {
	*httpx.StatusError
	// credentials are those of the request.
	credentials *credentials
}

const (
	// maxMessage bounds what is read of an answer that is an error.
	maxMessage = 64 << 10
	// maxShown bounds the part of the server's own words in a message.
	maxShown = 600
)

func newStatusError(answer *httpx.Response, used *credentials) *statusError {
	// The status says enough if the body cannot be read.
	text, _ := io.ReadAll(io.LimitReader(answer.Body, maxMessage))
	e := &statusError{StatusError: answer.StatusError(), credentials: used}
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
	e.Message = shown(message)
	return e
}

func (e *statusError) Unwrap() error { return e.StatusError }

// shown makes a server's text fit to be shown.
func shown(text string) string { return sanitize.Excerpt(strings.TrimSpace(text), maxShown) }

// tokenError says why there is no token. Failures of the network and of the
// server are temporary.
func tokenError(err error) error {
	const what = "the application default credentials of Google give no token"
	refused, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok || refused.Response == nil {
		err = fmt.Errorf("%s: %w", what, err)
		_, isRequest := errors.AsType[*url.Error](err)
		_, isNetwork := errors.AsType[*httpx.NetworkError](err)
		_, isRedirect := errors.AsType[*httpx.RedirectError](err)
		if isRequest && !isNetwork && !isRedirect { // a request that google's package makes by itself
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
	return fmt.Errorf("%w; renew them by \"gcloud auth application-default login\"", err)
}

// explain adds what to do about an error, if that is known, and wraps
// fs.ErrNotExist and fs.ErrPermission if that is what it means.
func explain(err error) error {
	if errors.Is(err, objects.ErrNone) {
		return fmt.Errorf("%w: %w", getmodules.ErrEmpty, err)
	}
	status, ok := errors.AsType[*statusError](err)
	if !ok {
		return err
	}
	switch {
	case status.Answer.StatusCode == http.StatusNotFound:
		return fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	case status.Answer.StatusCode != http.StatusUnauthorized && status.Answer.StatusCode != http.StatusForbidden:
		return err
	case status.credentials.token != nil:
		return fmt.Errorf("%w: %w; check the credentials that are used, and what they allow", fs.ErrPermission, err)
	case status.credentials.absent != nil:
		return fmt.Errorf("%w: %w; the request had no credentials, because none could be used (%w); get some by \"gcloud auth application-default login\", or name a file of them by GOOGLE_APPLICATION_CREDENTIALS", fs.ErrPermission, err, status.credentials.absent)
	}
	return fmt.Errorf("%w: %w; the request had no credentials", fs.ErrPermission, err)
}
