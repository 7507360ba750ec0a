package getmodules

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/git/gitexec"
	"github.com/cotterpin/cotter/internal/git/gitwire"
	"github.com/cotterpin/cotter/internal/git/inprocess"
	"github.com/cotterpin/cotter/internal/httpx"
)

// Why git could not fetch a package. errors.Is finds them in what Fetch
// returns.
var (
	// ErrNoGit says that no usable git is installed.
	ErrNoGit = gitexec.ErrNoGit
	// ErrRepositoryNotFound says that there is no repository, or none that
	// these credentials may see: servers do not tell which.
	ErrRepositoryNotFound = git.ErrRepositoryNotFound
	// ErrRefNotFound says that the repository has no such tag, branch or
	// abbreviated commit. The error is a *[RefNotFoundError].
	ErrRefNotFound = git.ErrRefNotFound
	// ErrRevisionNotFound says that the repository does not have the commit,
	// or no longer.
	ErrRevisionNotFound = git.ErrRevisionNotFound
	// ErrAuthentication says that the server refused the credentials, or
	// wanted some where there were none.
	ErrAuthentication = git.ErrAuthentication
	// ErrHostUnreachable says that there was no connection to the host.
	ErrHostUnreachable = git.ErrHostUnreachable
	// ErrHostUntrusted says that ssh does not know the host's key, or knows
	// another one, or that the host's certificate is not accepted.
	ErrHostUntrusted = git.ErrHostUntrusted
	// ErrBuiltInGit says that the built-in git client cannot do what the installed
	// git can.
	ErrBuiltInGit = errors.New("the built-in git client cannot do this, and an installed git (2.26 or newer) can")
)

// RefNotFoundError is an [ErrRefNotFound]: it has the ref that was asked for, and
// names that the repository has and that resemble it.
type RefNotFoundError = git.RefNotFoundError

var errRevisionForm = errors.New("the revision is not a full commit: 40 or 64 lower-case hexadecimal digits")

// explain adds to an error what is known of its cause.
func (g *gitClients) explain(err error) error {
	if g.builtIn {
		return explainBuiltIn(httpError(err))
	}
	if g.v2Err != nil && errors.Is(err, ErrNoGit) {
		return fmt.Errorf("%w, and without it: %w", err, g.v2Err)
	}
	if page, ok := errors.AsType[*gitwire.PageError](g.v2Err); ok && errors.Is(err, ErrRefNotFound) {
		// Git takes a page for the list of refs of an old server.
		return fmt.Errorf("%w: %w; check the address, and whether the server wants a login", ErrRepositoryNotFound, page)
	}
	return err
}

func isCancelled(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// builtInCredentials is the advice for a refused login.
const builtInCredentials = "the built-in git client takes credentials for http from the address alone, and for ssh the agent's keys, " +
	"those of IdentityFile and those in ~/.ssh; install git to use its credential helpers and all of your ssh configuration"

// builtInHosts is the advice for a host that is not reached, or not known: what
// would help may stand in a file that is not read.
const builtInHosts = "the built-in git client reads no url.insteadOf, ssh proxies, Match blocks of ssh_config or further lists of hosts; an installed git does"

// explainBuiltIn gives the errors of the built-in client the meaning of git's.
func explainBuiltIn(err error) error {
	if err == nil || isCancelled(err) {
		return err
	}
	if status, ok := errors.AsType[*StatusError](err); ok {
		switch {
		case errors.Is(status, ErrAuthentication):
			return fmt.Errorf("%w; %s", err, builtInCredentials)
		case errors.Is(status, fs.ErrNotExist):
			return fmt.Errorf("%w: %w", ErrRepositoryNotFound, err)
		}
	}
	if _, ok := errors.AsType[*httpx.NetworkError](err); ok {
		return fmt.Errorf("%w: %w; %s", ErrHostUnreachable, err, builtInHosts)
	}
	failed, ok := errors.AsType[*inprocess.Error](err)
	if !ok {
		return err
	}
	switch failed.Kind {
	case inprocess.Unsupported:
		return fmt.Errorf("%w: %w", ErrBuiltInGit, err)
	case inprocess.TooLarge:
		return fmt.Errorf("%w: %w", ErrTooLarge, err)
	case inprocess.NotFound:
		return fmt.Errorf("%w: %w", ErrRepositoryNotFound, err)
	case inprocess.Authentication:
		return fmt.Errorf("%w: %w; %s", ErrAuthentication, err, builtInCredentials)
	case inprocess.Untrusted:
		return fmt.Errorf("%w: %w; %s", ErrHostUntrusted, err, builtInHosts)
	case inprocess.Unreachable:
		return fmt.Errorf("%w: %w; %s", ErrHostUnreachable, err, builtInHosts)
	case inprocess.Refused:
		return explainRefused(failed, err)
	}
	return err
}

// explainRefused finds the meaning of a server's words, which are those that git
// would show.
func explainRefused(failed *inprocess.Error, err error) error {
	if meaning, ok := git.MeaningOf(failed.Message); ok {
		return fmt.Errorf("%w: %w", meaning.Is, err)
	}
	return err
}
