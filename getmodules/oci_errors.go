package getmodules

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"strings"

	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"

	"github.com/cotterpin/cotter/internal/net/httpx"
	"github.com/cotterpin/cotter/internal/net/oci"
	"github.com/cotterpin/cotter/internal/text/sanitize"
)

var (
	// ErrOCIAddress means that the repository or an argument of an oci address is malformed.
	ErrOCIAddress = errors.New("not a valid oci address")
	// ErrOCIArtifact means that an artifact is not a module package.
	ErrOCIArtifact = errors.New("the artifact is not a module package")
	// ErrOCIContent means that a registry's answer does not match the protocol, a digest or a size.
	ErrOCIContent = oci.ErrContent
)

// explain translates an error of the registry client, and quotes text from the server.
func (t *ociTransport) explain(err error) error {
	if err == nil {
		return nil
	}
	if failed, ok := errors.AsType[*ociCredentialError](err); ok {
		return failed
	}
	// Errors of ociTransport lose the text that the client adds.
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return failed.Err
	}
	if failed, ok := errors.AsType[*httpx.NetworkError](err); ok {
		return failed
	}
	if answer, ok := errors.AsType[*errcode.ErrorResponse](err); ok {
		return newStatusError(&httpx.StatusError{Answer: &httpx.Answer{StatusCode: answer.StatusCode, Asked: []*url.URL{answer.URL}, Authorized: t.loggedIn.Load()}})
	}
	switch {
	case isCancelled(err), isOCIReason(err):
		return err
	case errors.Is(err, auth.ErrBasicCredentialNotFound):
		return newStatusError(&httpx.StatusError{Answer: &httpx.Answer{StatusCode: http.StatusUnauthorized, Asked: []*url.URL{t.at()}}}) // with a challenge of HTTP's basic authentication
	case errors.Is(err, content.ErrMismatchedDigest):
		return fmt.Errorf("%w: it does not match its digest", ErrOCIContent)
	case errors.Is(err, errdef.ErrTooManyPages):
		return fmt.Errorf("%w: the list of tags has more than %d pages", ErrTooLarge, maxOCITagPages)
	}
	return fmt.Errorf("%w: %q", ErrOCIContent, err.Error())
}

// ociTooLarge wraps an error of reading an answer over its limit in ErrTooLarge.
func ociTooLarge(req *http.Request, err error) error {
	large, ok := errors.AsType[*httpx.TooLargeError](err)
	if !ok {
		return err
	}
	what := "the answer of the registry"
	switch {
	case strings.Contains(req.URL.Path, "/manifests/"):
		what = "the manifest"
	case strings.HasSuffix(req.URL.Path, "/tags/list"):
		what = "a page of tags"
	}
	return fmt.Errorf("%w: %s has more than %d bytes", ErrTooLarge, what, large.Limit)
}

func isOCIReason(err error) bool {
	return errors.Is(err, ErrTooLarge) || errors.Is(err, ErrOCIArtifact) || errors.Is(err, ErrOCIContent)
}

// openedError hides control characters in an error of a repository that [Fetcher].OCI opened, and
// translates oras-go's errdef.ErrNotFound.
func openedError(err error) error {
	shown := &getterError{err, sanitize.Escape(err.Error())}
	if errors.Is(err, errdef.ErrNotFound) {
		return &notFoundError{shown}
	}
	return shown
}

type notFoundError struct{ error }

func (e *notFoundError) Unwrap() []error { return []error{e.error, fs.ErrNotExist} }

type ociCredentialError struct{ err error }

func (e *ociCredentialError) Error() string { return "credentials for the registry: " + e.err.Error() }

func (e *ociCredentialError) Unwrap() []error { return []error{ErrAuthentication, e.err} }
