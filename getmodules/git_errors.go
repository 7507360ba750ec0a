package getmodules

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/cotterpin/cotter/internal/git/gitexec"
	"github.com/cotterpin/cotter/internal/git/gitwire"
)

// Why git could not fetch a package. errors.Is finds them in what Fetch
// returns.
var (
	// ErrNoGit says that no usable git is installed.
	ErrNoGit = gitexec.ErrNoGit
	// ErrRepositoryNotFound says that there is no repository, or none that
	// these credentials may see: servers do not tell which.
	ErrRepositoryNotFound = errors.New("repository not found")
	// ErrRefNotFound says that the repository has no such tag, branch or
	// abbreviated commit. The error is a *[RefNotFoundError].
	ErrRefNotFound = errors.New("ref not found")
	// ErrRevisionNotFound says that the repository does not have the commit,
	// or no longer.
	ErrRevisionNotFound = errors.New("commit not found")
	// ErrAuthentication says that the server refused the credentials, or
	// wanted some where there were none.
	ErrAuthentication = errors.New("authentication failed")
	// ErrHostUnreachable says that there was no connection to the host.
	ErrHostUnreachable = errors.New("host unreachable")
	// ErrHostUntrusted says that ssh does not know the host's key, or knows
	// another one, or that the host's certificate is not accepted.
	ErrHostUntrusted = errors.New("host not trusted")
)

var (
	errRevisionForm = errors.New("the revision is not a full commit: 40 or 64 lower-case hexadecimal digits")
	errStoreBroken  = errors.New("the local git store is damaged")
)

// RefNotFoundError is an [ErrRefNotFound].
type RefNotFoundError struct {
	// Ref is the ref that was asked for; "" means the remote's HEAD.
	Ref string
	// Near are names that the repository has and that resemble it.
	Near []string
}

func (e *RefNotFoundError) Error() string {
	if e.Ref == "" {
		return "the repository is empty, or its HEAD names no branch; name one by ?ref="
	}
	message := fmt.Sprintf("the repository has no tag, branch or commit %q", e.Ref)
	if len(e.Near) == 0 {
		return message
	}
	near := make([]string, len(e.Near))
	for i, name := range e.Near {
		near[i] = fmt.Sprintf("%q", name)
	}
	return message + "; it has " + strings.Join(near, ", ")
}

// Unwrap returns [ErrRefNotFound].
func (e *RefNotFoundError) Unwrap() error { return ErrRefNotFound }

// What git says, in its untranslated messages; it has no codes for them.
var (
	gitNoRef       = []string{"couldn't find remote ref"}
	gitNoCommit    = []string{"not our ref"}
	gitOtherFormat = []string{"mismatched algorithms"}
	gitNoPassword  = []string{"could not read password"}
	// gitBadTransfer is that objects came, or began to, and were no good.
	gitBadTransfer = []string{
		"fsck error", "early eof", "rpc failed", "hung up", "protocol error", "index-pack failed",
		"invalid index-pack", "did not send all necessary objects", "repository corruption",
	}
)

// gitFailures tell what git's words mean for the user. The first match counts:
// git reports causes before the consequences that they share.
var gitFailures = [...]struct {
	phrases []string
	is      error
	advice  string
}{
	{
		[]string{"host key verification failed", "remote host identification has changed"},
		ErrHostUntrusted, "compare the host's key and add it to known_hosts, for example by connecting once by hand",
	},
	{
		[]string{"ssl certificate problem", "certificate verification failed", "certificate verify failed"},
		ErrHostUntrusted, "if the certificate is right, name its authority by git config http.sslCAInfo",
	},
	{
		// transport 'x' not allowed, and libcurl's words for the same.
		[]string{"transport '", "disabled in libcurl", "protocol \"http\""},
		ErrRefusedLocation, "a url.<base>.insteadOf or a redirect leads to a transport that is not allowed here",
	},
	{
		[]string{
			"could not resolve host", "failed to connect", "couldn't connect", "connection refused", "connection timed out",
			"no route to host", "network is unreachable", "name or service not known", "connection reset",
		},
		ErrHostUnreachable, "check the address, the network and the proxy settings",
	},
	{
		[]string{
			"could not read username", "could not read password", "authentication failed", "terminal prompts disabled",
			"permission denied (", "returned error: 401", "returned error: 403",
		},
		ErrAuthentication, "git is never allowed to prompt here: set a credential helper (git config credential.helper), " +
			"a token by url.<base>.insteadOf or http.extraHeader, or load a key into the ssh agent",
	},
	{
		[]string{"dubious ownership"},
		fs.ErrPermission, "the local repository belongs to another user: allow it by git config --global --add safe.directory",
	},
	{
		[]string{"not found", "does not appear to be a git repository", "repository does not exist", "returned error: 404"},
		ErrRepositoryNotFound, "check the address; a server may also say so where it wants credentials",
	},
}

// explain adds to git's error what it means and what to do.
func (g *gitFetch) explain(err error) error {
	if g.wireErr != nil && errors.Is(err, ErrNoGit) {
		return fmt.Errorf("%w, and without it: %w", err, g.wireErr)
	}
	if page, ok := errors.AsType[*gitwire.PageError](g.wireErr); ok && errors.Is(err, ErrRefNotFound) {
		// Git takes a page for the list of refs of an old server.
		return fmt.Errorf("%w: %w; check the address, and whether the server wants a login", ErrRepositoryNotFound, page)
	}
	said, ok := errors.AsType[*gitexec.Error](err)
	if !ok || isCancelled(err) {
		return err
	}
	for _, f := range gitFailures {
		if said.Says(f.phrases...) {
			return fmt.Errorf("%w: %s: %w", f.is, f.advice, err)
		}
	}
	return err
}

// gitSays reports whether err is git's, with one of the phrases in it.
func gitSays(err error, phrases []string) bool {
	said, ok := errors.AsType[*gitexec.Error](err)
	return ok && said.Says(phrases...)
}

// isGitAnswer reports whether err is something that another way to ask, or
// another store, would not change.
func isGitAnswer(err error) bool {
	if isCancelled(err) || errors.Is(err, ErrTooLarge) || errors.Is(err, gitexec.ErrIdle) || errors.Is(err, ErrNoGit) {
		return true
	}
	if errors.Is(err, ErrRefNotFound) || errors.Is(err, ErrRevisionNotFound) || errors.Is(err, ErrRefusedLocation) {
		return true
	}
	for _, f := range gitFailures {
		if gitSays(err, f.phrases) {
			return true
		}
	}
	return false
}

func isCancelled(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
