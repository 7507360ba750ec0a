package advice

import (
	"errors"
	"net"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/cli/lists"
	"github.com/cotterpin/cotter/internal/cli/view"
	"github.com/cotterpin/cotter/internal/git"
)

// lookup is what is known about the name of a host.
type lookup struct {
	host string
	name nameState
}

type nameState int

const (
	nameKnown    nameState = iota // it was resolved, or need not be
	nameUnknown                   // there is no such host
	nameNotAsked                  // no server answered the question
)

func lookupIn(err error) lookup {
	at := lookup{host: hostOf(err)}
	name, isName := errors.AsType[*net.DNSError](err)
	byGit, isGit := errors.AsType[*git.HostError](err)
	switch {
	case isName && name.IsNotFound, isGit && byGit.Fault == git.NoSuchHost:
		at.name = nameUnknown
	case isName, isGit && byGit.Fault == git.NameNotAsked:
		at.name = nameNotAsked
	}
	return at
}

// networkDown returns the text for all names that were not resolved, if the network or DNS seems to be down: none was
// resolved, and it is not one that may be misspelled. Otherwise it returns "".
func (r *Run) networkDown(all []Message) string {
	if r.Reached != nil && r.Reached.Load() {
		return ""
	}
	var hosts []lookup
	for _, m := range all {
		if m.err != nil {
			hosts = append(hosts, lookupIn(m.err))
		}
	}
	names := namesNotResolved(hosts)
	if names == nil {
		return ""
	}
	return "no host name can be resolved, so the network or DNS is down: " + view.SomeOf(names, maxDown)
}

const maxDown = 5

// namesNotResolved returns nil if a name was resolved, or only one was not, unless that exists or no server
// was asked about it.
func namesNotResolved(hosts []lookup) []string {
	var names []string
	sure := false
	for _, h := range hosts {
		switch {
		case h.name != nameKnown:
			names = append(names, h.host)
			sure = sure || h.name == nameNotAsked || slices.Contains(publicHosts, withoutPort(h.host))
		case IsLookedUp(h.host):
			return nil
		}
	}
	if names = lists.Distinct(names); !sure && len(names) < 2 {
		return nil
	}
	return names
}

func withoutPort(host string) string {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		return host
	}
	return name
}

// IsLookedUp reports whether a host, with or without a port, has a name to resolve.
func IsLookedUp(host string) bool {
	name := withoutPort(host)
	return name != "" && name != "localhost" && net.ParseIP(strings.Trim(name, "[]")) == nil
}
