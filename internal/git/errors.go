package git

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// The reasons why a repository could not be fetched from.
var (
	// ErrRepositoryNotFound means that the repository does not exist, or that the credentials
	// do not give access to it: servers do not say which.
	ErrRepositoryNotFound = errors.New("repository not found")
	// ErrRefNotFound means that the repository has no such tag, branch or abbreviated commit.
	ErrRefNotFound = errors.New("ref not found")
	// ErrRevisionNotFound means that the repository does not have the commit.
	ErrRevisionNotFound = errors.New("commit not found")
	// ErrAuthentication means that the server refused the credentials, or required credentials
	// when there were none.
	ErrAuthentication = errors.New("authentication failed")
	// ErrHostUnreachable means that no connection to the host could be made.
	ErrHostUnreachable = errors.New("host unreachable")
	// ErrHostUntrusted means that ssh does not know the host's key or knows a different one, or
	// that the host's certificate is not accepted.
	ErrHostUntrusted = errors.New("host not trusted")
	// ErrRefused means that an address, or a server's answer, points to a location that is not
	// allowed.
	ErrRefused = errors.New("refused location")
	// ErrTooLarge means that a limit is exceeded.
	ErrTooLarge = errors.New("the package is too large")
)

// ErrNeedsGit means that only an installed git can do something.
var ErrNeedsGit = errors.New("this needs an installed git (2.26 or newer)")

// ErrAmbiguous means that several commits begin with the same digits.
var ErrAmbiguous = errors.New("several commits begin with it; write more digits")

// Meaning describes an error message of git.
type Meaning struct {
	phrases []string
	// Is is the error that the message stands for.
	Is error
	// Advice is advice for users of the installed git.
	Advice string
}

// meanings are searched in this order. Specific causes precede the consequences that they have
// in common, because git reports both.
var meanings = [...]Meaning{
	{
		[]string{"host key verification failed", "remote host identification has changed"},
		ErrHostUntrusted, "compare the host's key and add it to known_hosts, for example by connecting once by hand",
	},
	{
		[]string{"ssl certificate problem", "certificate verification failed", "certificate verify failed"},
		ErrHostUntrusted, "if the certificate is right, set its authority with git config http.sslCAInfo",
	},
	{
		// transport 'x' not allowed, and libcurl's messages for the same problem.
		[]string{"transport '", "disabled in libcurl", "protocol \"http\""},
		ErrRefused, "a url.<base>.insteadOf or a redirect points to a transport that is not allowed here",
	},
	{
		[]string{
			"could not resolve host", "failed to connect", "couldn't connect", "connection refused", "connection timed out",
			"no route to host", "network is unreachable", "name or service not known", "connection reset",
			"kex_exchange_identification", "connection closed by",
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
		ErrRepositoryNotFound, "check the address; a server may also say so if it requires credentials",
	},
}

// MeaningOf returns the meaning of an error message of git or of a git server. Git has no error
// codes, so its untranslated messages are the only source.
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
	// Ref is the requested ref; "" means the remote's HEAD.
	Ref string
	// Near are the names of refs in the repository that resemble Ref.
	Near []string
}

func (e *RefNotFoundError) Error() string { return e.ErrorFor("the repository") }

// ErrorFor returns the text of the error with a name for the repository.
func (e *RefNotFoundError) ErrorFor(repository string) string {
	if e.Ref == "" {
		return repository + " is empty, or its HEAD does not name a branch; name one with ?ref="
	}
	return NotFoundText(repository, "tag, branch or commit", e.Ref, e.Near)
}

// NotFoundText says that a repository has no such thing, and what it has instead.
func NotFoundText(repository, what, name string, near []string) string {
	message := fmt.Sprintf("%s has no %s %q", repository, what, name)
	if len(near) == 0 {
		return message
	}
	quoted := make([]string, len(near))
	for i, name := range near {
		quoted[i] = fmt.Sprintf("%q", name)
	}
	return message + "; it has " + strings.Join(quoted, ", ")
}

// Unwrap returns [ErrRefNotFound].
func (e *RefNotFoundError) Unwrap() error { return ErrRefNotFound }
