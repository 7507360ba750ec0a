package getmodules

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/cotterpin/cotter/internal/git/inprocess"
	"github.com/cotterpin/cotter/internal/httpx"
)

// ErrBuiltInGit says that the built-in git client cannot do what the installed
// git can.
var ErrBuiltInGit = errors.New("the built-in git client cannot do this, and an installed git (2.26 or newer) can")

// builtInCredentials is the advice for a refused login.
const builtInCredentials = "the built-in git client takes credentials for http from the address alone, and for ssh the agent's keys " +
	"and those in ~/.ssh; install git to use its credential helpers and your ssh configuration"

// builtInHosts is the advice for a host that is not reached, or not known: what
// would help may stand in a file that is not read.
const builtInHosts = "the built-in git client reads no url.insteadOf, ssh host aliases, ssh proxies or further lists of hosts; an installed git does"

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

// explainRefused finds the meaning of a server's words, which are those that
// git would show.
func explainRefused(failed *inprocess.Error, err error) error {
	for _, f := range gitFailures {
		if failed.Says(f.phrases...) {
			return fmt.Errorf("%w: %w", f.is, err)
		}
	}
	return err
}
