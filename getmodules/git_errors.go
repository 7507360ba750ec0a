package getmodules

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/disk/packagelimits"
	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/git/gitexec"
	"github.com/cotterpin/cotter/internal/git/gitwire"
	"github.com/cotterpin/cotter/internal/git/inprocess"
	"github.com/cotterpin/cotter/internal/net/httpx"
)

// The reasons why a package could not be fetched from git. Errors of Fetch wrap them.
var (
	ErrNoGit = gitexec.ErrNoGit
	// ErrRepositoryNotFound can also mean that the credentials do not give access: servers do not say.
	ErrRepositoryNotFound = git.ErrRepositoryNotFound
	// ErrRefNotFound is the error of a [RefNotFoundError] for a tag, branch or abbreviated commit.
	ErrRefNotFound = git.ErrRefNotFound
	// ErrRevisionNotFound means that the repository does not have the commit, or no longer has it.
	ErrRevisionNotFound = git.ErrRevisionNotFound
	// ErrAuthentication means that the server refused the credentials, or required some.
	ErrAuthentication  = git.ErrAuthentication
	ErrHostUnreachable = git.ErrHostUnreachable
	// ErrHostUntrusted is about the key that ssh knows for the host, or about its certificate.
	ErrHostUntrusted = git.ErrHostUntrusted
	// ErrBuiltInGit means that something needs an installed git; see [GitBuiltIn].
	ErrBuiltInGit = git.ErrNeedsGit
)

// UnknownArgumentsError means that a repository was not found, and that its address has arguments which git sources do
// not have. The server gets them with the path, as from stock tools, and most find no repository of that name.
type UnknownArgumentsError struct {
	// Names are sorted.
	Names []string
	// Err wraps [ErrRepositoryNotFound].
	Err error
}

func (e *UnknownArgumentsError) Error() string { return fmt.Sprint(e.Err) + e.Suffix() }

// Suffix returns the end of the error's text, which names the arguments.
func (e *UnknownArgumentsError) Suffix() string {
	return fmt.Sprintf("; the server also got ?%s from the address: a branch, a tag or a commit is named by ?ref=", strings.Join(e.Names, ", ?"))
}

func (e *UnknownArgumentsError) Unwrap() error { return e.Err }

// explain adds the arguments of the address to an error that they may have caused, and what has replaced it.
func (a gitAddress) explain(err error) error {
	if errors.Is(err, ErrRepositoryNotFound) && a.remote.RawQuery != "" {
		err = &UnknownArgumentsError{Names: slices.Sorted(maps.Keys(a.remote.Query())), Err: err}
	}
	if a.target.Setting != "" && !isCancelled(err) {
		err = &GitReplacedError{URL: a.shownTarget(), Setting: a.target.Setting, Err: err}
	}
	return err
}

// shownTarget is where requests go.
func (a gitAddress) shownTarget() string { return addrs.Redact(a.target.URL.String()) }

// GitReplacedError means that a request failed for a URL with which a setting of the user's git configuration,
// url.<base>.insteadOf, has replaced the address.
type GitReplacedError struct {
	// URL is where the request went. It and Setting are redacted.
	URL, Setting string
	Err          error
}

func (e *GitReplacedError) Error() string { return fmt.Sprint(e.Err) + e.Suffix() }

// Suffix returns the end of the error's text, which names the setting.
func (e *GitReplacedError) Suffix() string {
	return fmt.Sprintf("; git's setting %s replaces the address", e.Setting)
}

func (e *GitReplacedError) Unwrap() error { return e.Err }

// RefNotFoundError means that a repository does not have a tag, or in git a branch or abbreviated commit.
type RefNotFoundError struct {
	// Repository is its URL, redacted.
	Repository string
	// Ref is "" for the HEAD of a git repository.
	Ref string
	// Near are the names that resemble Ref, or else the newest releases.
	Near []string
	// Err wraps [ErrRefNotFound] for git, and fs.ErrNotExist for an OCI registry.
	Err error
}

func (e *RefNotFoundError) Error() string { return e.Common() }

// Common is Error: a message needs nothing else.
func (e *RefNotFoundError) Common() string {
	repository, what := cmp.Or(e.Repository, "the repository"), "tag"
	if errors.Is(e.Err, ErrRefNotFound) {
		what = "tag, branch or commit"
		if e.Ref == "" {
			return repository + " is empty, or its HEAD does not name a branch; name one with ?ref="
		}
	}
	message := fmt.Sprintf("%s has no %s %q", repository, what, e.Ref)
	for i, name := range e.Near {
		separator := ", "
		if i == 0 {
			separator = "; it has "
		}
		message += fmt.Sprintf("%s%q", separator, name)
	}
	return message
}

func (e *RefNotFoundError) Unwrap() error { return e.Err }

var errRevisionForm = errors.New("the revision is not a full commit: 40 or 64 lower-case hexadecimal digits")

func (g *gitClients) explain(err error) error {
	switch {
	case isDenied(err):
		return httpError(err)
	}
	if failed, ok := errors.AsType[*gitexec.Error](err); ok {
		err = g.withStatus(failed, err)
	}
	if errors.Is(err, gitexec.ErrIdle) {
		err = &git.HostError{Is: ErrHostUnreachable, Reason: "no answer in time", URL: g.addr.shownTarget(), Err: err}
	}
	err = g.withWithheld(err)
	if g.v2Err != nil && errors.Is(err, ErrNoGit) {
		return fmt.Errorf("%w, and without it: %w", err, g.v2Err)
	}
	if page, ok := errors.AsType[*httpx.PageError](g.v2Err); ok && errors.Is(err, ErrRefNotFound) {
		// Git mistakes a page for the list of refs of an old server.
		return g.addr.noRepository(page)
	}
	return err
}

// GitWithheldError means that a git repository needed a login, or was not found, while a setting of the
// user's git configuration with credentials was not used: it names no URL, and only a package or a server
// names the host. A setting for the host, http.<url>.*, is used.
type GitWithheldError struct {
	// Setting is the name of the setting, such as "http.extraheader" or "GIT_SSL_CERT".
	Host, Setting string
	// Err is the error without the setting, which may be a refusal to run git.
	Err error
}

func (e *GitWithheldError) Error() string {
	if e.Err == nil {
		return e.Common()
	}
	return e.Common() + ": " + e.Err.Error()
}

// Common is the text without that of Err.
func (e *GitWithheldError) Common() string {
	return fmt.Sprintf("%s requires credentials, or has no such repository. Git's setting %s is not used for it, because the setting names no host, and only a package or a server names this one", e.Host, e.Setting)
}

func (e *GitWithheldError) Unwrap() error { return e.Err }

// withWithheld adds to an error the setting that was not used.
func (g *gitClients) withWithheld(err error) error {
	if refused, ok := errors.AsType[*gitexec.WithheldError](err); ok {
		return &GitWithheldError{Host: refused.Host, Setting: refused.Setting, Err: err}
	}
	if g.alone || !errors.Is(err, ErrAuthentication) && !errors.Is(err, ErrRepositoryNotFound) {
		return err
	}
	settings, failed := g.fetcher.program().Settings(context.Background(), g.addr.target.Remote)
	if failed != nil {
		return err
	}
	if withheld := settings.For(g.addr.target.URL, g.named).Withheld; withheld != "" {
		return &GitWithheldError{Host: g.addr.target.URL.Host, Setting: withheld, Err: err}
	}
	return err
}

// withStatus adds the *[StatusError] for the status that git reports, if there is no sentinel for it.
func (g *gitClients) withStatus(failed *gitexec.Error, err error) error {
	status := failed.HTTPStatus()
	if status < http.StatusBadRequest || errors.Is(err, ErrAuthentication) || errors.Is(err, ErrRepositoryNotFound) {
		return err
	}
	return &statusOfGit{error: err, status: gitStatusError(g.addr.target.URL, status, "")}
}

type statusOfGit struct {
	error
	status *StatusError
}

func (e *statusOfGit) Unwrap() []error { return []error{e.error, e.status} }

func isCancelled(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

const (
	aloneCredentials = "without git, credentials are taken from the address and from netrc; install git to use its credential helpers"
	aloneHosts       = "without git, no url.insteadOf is used"
)

func errAlone(reason string) error {
	if reason == "" {
		reason = "commits cannot be abbreviated without it"
	}
	return fmt.Errorf("%w: %s", ErrBuiltInGit, reason)
}

func (a gitAddress) noRepository(err error) error {
	e := &git.HostError{Is: ErrRepositoryNotFound, URL: a.shownTarget(), Err: err}
	if errors.As(err, new(*httpx.PageError)) {
		e.Fault = git.WebPage
	}
	return e
}

// explainAlone wraps errors of a fetch without git in the sentinels that git's errors have.
func (a gitAddress) explainAlone(err error) error {
	if isCancelled(err) {
		return err
	}
	if status, ok := errors.AsType[*gitwire.StatusError](err); ok {
		err = gitStatusError(a.target.URL, status.StatusCode, status.RetryAfter)
	}
	if pack, ok := errors.AsType[*inprocess.LimitError](err); ok {
		over := pack.Over
		if over.Limit == packagelimits.OfEntries {
			over.Max -= otherObjects
		}
		return &over
	}
	switch {
	case errors.As(err, new(*httpx.NetworkError)):
		return fmt.Errorf("%w: %w; %s", ErrHostUnreachable, err, aloneHosts)
	case errors.Is(err, fs.ErrNotExist), errors.As(err, new(*httpx.PageError)):
		return a.noRepository(err)
	case errors.Is(err, gitwire.ErrOldProtocol), errors.Is(err, gitwire.ErrNotSmart):
		return fmt.Errorf("%w: %w", ErrBuiltInGit, err)
	case errors.Is(err, ErrAuthentication):
		return fmt.Errorf("%w; %s", err, aloneCredentials)
	}
	return err
}
