package main

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync/atomic"
)

// unresolved returns the host that a message is about if its name was not resolved, or nil.
func unresolved(m message) *unreachableHost {
	if m.problem == nil {
		return nil
	}
	host, ok := errors.AsType[*unreachableHost](m.problem.error)
	if !ok || host.name == nameKnown {
		return nil
	}
	return host
}

// networkDown returns the wording for all messages about hosts whose names were not resolved, if the
// network or DNS seems to be down: no name of the run was resolved, and the names are not only one
// that may be misspelled. Otherwise it returns nil.
func (o *output) networkDown(all []message) *problem {
	if o.reached != nil && o.reached.Load() {
		return nil
	}
	var hosts []lookup
	for _, m := range all {
		if host := unresolved(m); host != nil {
			hosts = append(hosts, lookup{host.host, host.name})
		} else if m.err != nil {
			hosts = append(hosts, lookup{hostOf(m.err), nameKnown})
		}
	}
	names := namesNotResolved(hosts)
	if names == nil {
		return nil
	}
	return &problem{error: &noNetwork{fact(networkIsDown + someOf(names, maxDown))}}
}

// networkIsDown begins the message that lists names that were not resolved.
const networkIsDown = "no host name can be resolved, so the network or DNS is down: "

// maxDown is the maximum number of names in that message.
const maxDown = 5

// lookup is a host that a run needed, and what is known about its name.
type lookup struct {
	host string
	name nameState
}

// namesNotResolved returns the names that were not resolved, if there are several, or one that exists or
// that no server was asked about, and no other name was resolved. Otherwise it returns nil.
func namesNotResolved(hosts []lookup) []string {
	var names []string
	sure := false
	for _, h := range hosts {
		switch {
		case h.name != nameKnown:
			names = append(names, h.host)
			sure = sure || h.name == nameNotAsked || slices.Contains(publicHosts, hostname(h.host))
		case isLookedUp(h.host):
			return nil
		}
	}
	slices.Sort(names)
	if names = slices.Compact(names); !sure && len(names) < 2 {
		return nil
	}
	return names
}

// isLookedUp reports whether a host, with or without a port, has a name that must be resolved.
func isLookedUp(host string) bool {
	name := hostname(host)
	return name != "" && name != "localhost" && net.ParseIP(strings.Trim(name, "[]")) == nil
}

// noteReached returns a function that opens connections as dial does. It sets reached if a server was
// reached by a name.
func noteReached(reached *atomic.Bool, dial dialFunc) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err == nil && isLookedUp(address) {
			reached.Store(true)
		}
		return conn, err
	}
}

// dialFunc opens a connection, as [net.Dialer.DialContext] does.
type dialFunc = func(ctx context.Context, network, address string) (net.Conn, error)
