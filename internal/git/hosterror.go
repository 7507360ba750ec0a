package git

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/internal/net/hostname"
)

// HostError says why a host, or a repository on it, cannot be used.
type HostError struct {
	// Is is a sentinel of this package, or of package fs.
	Is    error
	Fault Fault
	// Reason is in a few words; "" if Fault and Err say all.
	Reason string
	// URL is that of the repository, or its path on this machine, redacted.
	URL string
	Err error
}

func (e *HostError) Error() string {
	if e.Err == nil {
		return e.Common()
	}
	return e.Common() + ": " + e.Err.Error()
}

func (e *HostError) Unwrap() []error { return []error{e.Is, e.Err} }

// Host is "" for a repository on this machine.
func (e *HostError) Host() string { return hostname.URLIn(e.URL).Host }

// Common is the text without git's own words.
func (e *HostError) Common() string {
	host := cmp.Or(e.Host(), "the host")
	repository, _, _ := strings.Cut(e.URL, "?")
	switch {
	case errors.Is(e.Is, ErrHostUnreachable):
		return hostname.Unreachable(host, cmp.Or(e.Reason, reasons[e.Fault], e.lastWords()))
	case e.Fault == UnknownKey:
		return host + "'s ssh key is not known on this machine"
	case e.Fault == ChangedKey:
		return host + " has another ssh key than the known one"
	case errors.Is(e.Is, ErrHostUntrusted):
		return hostname.UntrustedCertificate(host, reasons[e.Fault])
	case errors.Is(e.Is, ErrAuthentication):
		return e.refusal(host)
	case e.Fault == WebPage:
		return "there is no repository " + repository + ": " + fmt.Sprint(e.Err)
	case errors.Is(e.Is, ErrRepositoryNotFound) && e.Host() == "":
		return "there is no git repository " + strings.TrimPrefix(repository, "file://")
	case errors.Is(e.Is, ErrRepositoryNotFound):
		return fmt.Sprintf("there is no repository %s, or %s shows it only with credentials", repository, host)
	}
	return e.Is.Error() + ": " + e.Reason
}

func (e *HostError) refusal(host string) string {
	switch at := hostname.URLIn(e.URL); {
	case e.Fault == Forbidden:
		return host + " answered 403 Forbidden: git has no credentials that it accepts"
	case at.Scheme != "ssh":
		return host + " requires credentials, and git has none that it accepts"
	case at.User.Username() != "":
		host += " refused the login over ssh of the user " + at.User.Username()
	default:
		host += " refused the login over ssh"
	}
	if e.Reason != "" {
		host += ": " + e.Reason
	}
	return host
}

var reasons = map[Fault]string{
	NoSuchHost:         "there is no such host",
	NameNotAsked:       "its address cannot be looked up",
	ExpiredCertificate: "it has expired",
	EarlyCertificate:   "it is not yet valid",
	OtherCertificate:   "it is for another host",
}

// lastWords leaves out what git was doing.
func (e *HostError) lastWords() string {
	text := fmt.Sprint(e.Err)
	return strings.TrimSpace(text[strings.LastIndex(text, ": ")+1:])
}

// Fault is more precise than a sentinel.
type Fault int

// The faults with [ErrHostUnreachable], [ErrHostUntrusted], [ErrAuthentication], [fs.ErrPermission] and
// [ErrRepositoryNotFound].
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

	OtherOwner // of a repository on this machine

	WebPage // in place of a repository
)

// meaning is what a message in lower case means if it has one of the phrases.
type meaning struct {
	phrases []string
	is      error
	fault   Fault
	reason  string
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
			details: []detail{when(`remote host identification has changed`, ChangedKey, "")},
		},
		{
			phrases: []string{"ssl certificate problem", "certificate verification failed", "certificate verify failed", "certificate subject name"},
			is:      ErrHostUntrusted,
			fault:   BadCertificate,
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
			reason:  "a url.<base>.insteadOf or a redirect points to a transport that is not allowed here",
		},
		{
			phrases: []string{
				"could not resolve host", "could not resolve proxy", "failed to connect", "couldn't connect", "connection refused", "connection timed out",
				"no route to host", "network is unreachable", "name or service not known", "connection reset",
				"kex_exchange_identification", "connection closed by",
			},
			is: ErrHostUnreachable,
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
			details: []detail{
				when(`permission denied \([a-z0-9,-]+\)`, UnknownFault, "$0"),
				when(`returned error: 403`, Forbidden, ""),
			},
		},
		{
			phrases: []string{"dubious ownership"},
			is:      fs.ErrPermission,
			fault:   OtherOwner,
			reason:  "the local repository belongs to another user",
		},
		{
			phrases: []string{"not found", "does not appear to be a git repository", "repository does not exist", "returned error: 404"},
			is:      ErrRepositoryNotFound,
		},
	}
})

// MeaningOf returns the meaning of a message of git, of ssh or of a git server, as an error without URL and Err; nil
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
	e := &HostError{Is: all[i].is, Fault: all[i].fault, Reason: all[i].reason}
	for _, d := range all[i].details {
		if found := d.pattern.FindStringSubmatchIndex(message); found != nil {
			e.Fault, e.Reason = d.fault, string(d.pattern.ExpandString(nil, d.reason, message, found))
			break
		}
	}
	return e
}
