package git

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// HostError says why a host, or a repository on it, cannot be used.
type HostError struct {
	// Is is a sentinel of this package, or of package fs.
	Is    error
	Fault Fault
	// Reason is in a few words, for a message that names the host; "" if Fault and Err say all.
	Reason string
	// Advice is for those who use git; "" for errors of the client without it.
	Advice string
	Err    error
}

func (e *HostError) Error() string {
	text := e.Is.Error() + ": "
	if e.Advice != "" {
		text += e.Advice + ": "
	}
	return text + e.Err.Error()
}

func (e *HostError) Unwrap() []error { return []error{e.Is, e.Err} }

// Fault is more precise than a sentinel.
type Fault int

// The faults with [ErrHostUnreachable], [ErrHostUntrusted], [ErrAuthentication] and [ErrRepositoryNotFound].
const (
	UnknownFault Fault = iota

	NoSuchHost
	NameNotAsked // no server has answered the question for the host's address

	UnknownKey
	ChangedKey
	BadCertificate
	ExpiredCertificate
	EarlyCertificate // not yet valid
	OtherCertificate // for another host

	Forbidden // status 403

	WebPage // in place of a repository
)

// meaning is what a message in lower case means if it has one of the phrases.
type meaning struct {
	phrases []string
	is      error
	fault   Fault
	advice  string
	// details are more precise: the first one that matches counts.
	details []detail
}

type detail struct {
	pattern *regexp.Regexp
	fault   Fault
	reason  string // with the groups of the pattern, such as $1
}

func when(pattern string, fault Fault, reason string) detail {
	return detail{regexp.MustCompile(pattern), fault, reason}
}

// meanings are in this order because git reports causes and consequences. Few runs need them.
var meanings = sync.OnceValue(func() []meaning {
	return []meaning{
		{
			phrases: []string{"host key verification failed", "remote host identification has changed"},
			is:      ErrHostUntrusted,
			fault:   UnknownKey,
			advice:  "compare the host's key and add it to known_hosts, for example by connecting once by hand",
			details: []detail{when(`remote host identification has changed`, ChangedKey, "")},
		},
		{
			phrases: []string{"ssl certificate problem", "certificate verification failed", "certificate verify failed", "certificate subject name"},
			is:      ErrHostUntrusted,
			fault:   BadCertificate,
			advice:  "if the certificate is right, set its authority with git config http.sslCAInfo",
			details: []detail{
				when(`certificate has expired|expired certificate`, ExpiredCertificate, ""),
				when(`certificate is not yet valid|not yet activated`, EarlyCertificate, ""),
				when(`subject name|name does not match`, OtherCertificate, ""),
			},
		},
		{
			// Also libcurl's messages.
			phrases: []string{"transport '", "disabled in libcurl", "protocol \"http\""},
			is:      ErrRefused,
			advice:  "a url.<base>.insteadOf or a redirect points to a transport that is not allowed here",
		},
		{
			phrases: []string{
				"could not resolve host", "could not resolve proxy", "failed to connect", "couldn't connect", "connection refused", "connection timed out",
				"no route to host", "network is unreachable", "name or service not known", "connection reset",
				"kex_exchange_identification", "connection closed by",
			},
			is:     ErrHostUnreachable,
			advice: "check the address, the network and the proxy settings",
			details: []detail{
				when(`could not resolve proxy: (\S+)`, UnknownFault, "there is no such proxy: $1"),
				when(`could not resolve hostname \S+: [^;\n]*temporary failure`, NameNotAsked, ""),
				when(`could not resolve host`, NoSuchHost, ""),
				when(`connect to host \S+ port (\d+): ([^;\r\n]+)`, UnknownFault, "$2 (ssh, port $1)"),
				when(`connection (closed|reset) by (remote host|\S+ port \d+)`, UnknownFault, "the ssh server closed the connection"),
				when(`errno=([^;\r\n]+)`, UnknownFault, "$1"), // of git's own protocol
				when(`failed to connect to (\S+) port (\d+)`, UnknownFault, "no connection to $1, port $2"),
			},
		},
		{
			phrases: []string{
				"could not read username", "could not read password", "authentication failed", "terminal prompts disabled",
				"permission denied (", "returned error: 401", "returned error: 403",
			},
			is: ErrAuthentication,
			advice: "git is never allowed to prompt here: set a credential helper (git config credential.helper), " +
				"a token by url.<base>.insteadOf or http.extraHeader, or load a key into the ssh agent",
			details: []detail{
				when(`permission denied \([a-z0-9,-]+\)`, UnknownFault, "$0"),
				when(`returned error: 403`, Forbidden, ""),
			},
		},
		{
			phrases: []string{"dubious ownership"},
			is:      fs.ErrPermission,
			advice:  "the local repository belongs to another user: allow it by git config --global --add safe.directory",
		},
		{
			phrases: []string{"not found", "does not appear to be a git repository", "repository does not exist", "returned error: 404"},
			is:      ErrRepositoryNotFound,
			advice:  "check the address; a server may also say so if it requires credentials",
		},
	}
})

// MeaningOf returns the meaning of a message of git, of ssh or of a git server, as an error without Err; nil
// if it is not known. They have no error codes, so their untranslated messages are the only source.
func MeaningOf(message string) *HostError {
	message = strings.ToLower(message)
	all := meanings()
	i := slices.IndexFunc(all, func(m meaning) bool {
		return slices.ContainsFunc(m.phrases, func(phrase string) bool { return strings.Contains(message, phrase) })
	})
	if i < 0 {
		return nil
	}
	e := &HostError{Is: all[i].is, Fault: all[i].fault, Advice: all[i].advice}
	for _, d := range all[i].details {
		if found := d.pattern.FindStringSubmatchIndex(message); found != nil {
			e.Fault, e.Reason = d.fault, string(d.pattern.ExpandString(nil, d.reason, message, found))
			break
		}
	}
	return e
}
