package git

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
)

// The reasons why a repository could not be fetched from.
var (
	// ErrRepositoryNotFound may also mean that the credentials do not give access: servers do not say.
	ErrRepositoryNotFound = errors.New("repository not found")
	// ErrRefNotFound is about a tag, a branch or an abbreviated commit.
	ErrRefNotFound      = errors.New("ref not found")
	ErrRevisionNotFound = errors.New("commit not found")
	// ErrAuthentication means that the credentials were refused, or that there were none.
	ErrAuthentication  = errors.New("authentication failed")
	ErrHostUnreachable = errors.New("host unreachable")
	// ErrHostUntrusted is about the key of an ssh host, or a certificate.
	ErrHostUntrusted = errors.New("host not trusted")
	// ErrRefused means that an address, or a server's answer, points to where it must not.
	ErrRefused  = errors.New("refused location")
	ErrTooLarge = errors.New("the package is too large")
)

var ErrNeedsGit = errors.New("this needs an installed git (2.26 or newer)")

var ErrAmbiguous = errors.New("several commits begin with it; write more digits")

type Meaning struct {
	phrases []string
	Is      error
	Advice  string
}

// meanings are in this order because git reports causes and consequences.
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
		// Also libcurl's messages.
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

// MeaningOf returns the meaning of a message of git or of a git server. Git has no error codes, so its
// untranslated messages are the only source.
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
