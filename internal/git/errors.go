package git

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// Why a repository could not be fetched from.
var (
	// ErrRepositoryNotFound says that there is no repository, or none that these
	// credentials may see: servers do not say which.
	ErrRepositoryNotFound = errors.New("repository not found")
	// ErrRefNotFound says that the repository has no such tag, branch or abbreviated
	// commit.
	ErrRefNotFound = errors.New("ref not found")
	// ErrRevisionNotFound says that the repository does not have the commit.
	ErrRevisionNotFound = errors.New("commit not found")
	// ErrAuthentication says that the server refused the credentials, or wanted some
	// and there were none.
	ErrAuthentication = errors.New("authentication failed")
	// ErrHostUnreachable says that there was no connection to the host.
	ErrHostUnreachable = errors.New("host unreachable")
	// ErrHostUntrusted says that ssh does not know the host's key, or knows another
	// one, or that the host's certificate is not accepted.
	ErrHostUntrusted = errors.New("host not trusted")
	// ErrRefused says that an address, or a server's answer, points to where it must
	// not.
	ErrRefused = errors.New("refused location")
	// ErrTooLarge says that something is over a limit.
	ErrTooLarge = errors.New("the package is too large")
)

// ErrAmbiguous says that several commits begin with the same digits.
var ErrAmbiguous = errors.New("several commits begin so; write more of its digits")

// Meaning is what a message of git means for the user.
type Meaning struct {
	phrases []string
	// Is is the error that it stands for.
	Is error
	// Advice is for users of the git that is installed.
	Advice string
}

// meanings are in the order in which they are looked for: git reports causes
// before the consequences that they share.
var meanings = [...]Meaning{
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
		ErrRefused, "a url.<base>.insteadOf or a redirect points to a transport that is not allowed here",
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

// MeaningOf finds out what a message means that git, or a git server, wrote. Git
// has no error codes, so its untranslated messages are all there is.
func MeaningOf(message string) (Meaning, bool) {
	message = strings.ToLower(message)
	i := slices.IndexFunc(meanings[:], func(m Meaning) bool {
		return slices.ContainsFunc(m.phrases, func(phrase string) bool { return strings.Contains(message, phrase) })
	})
	if i < 0 {
		return Meaning{}, false
	}
	return meanings[i], true
}

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
