package main

import (
	"context"
	"net"
	"slices"
	"strings"
	"sync/atomic"
)

// unresolved reports whether the name of the host that a message is about was not resolved.
func (m message) unresolved() bool {
	return m.problem != nil && m.problem.unreached != "" && m.problem.name != nameKnown
}

// networkDown returns the wording for all names that were not resolved, if the network or DNS seems to be
// down: none was resolved, and it is not one that may be misspelled.
func (o *output) networkDown(all []message) *problem {
	if o.reached != nil && o.reached.Load() {
		return nil
	}
	var hosts []lookup
	for _, m := range all {
		if m.unresolved() {
			hosts = append(hosts, lookup{m.problem.unreached, m.problem.name})
		} else if m.err != nil {
			hosts = append(hosts, lookup{hostOf(m.err), nameKnown})
		}
	}
	names := namesNotResolved(hosts)
	if names == nil {
		return nil
	}
	return say("no host name can be resolved, so the network or DNS is down: "+someOf(names, maxDown), do(checkNetwork))
}

const maxDown = 5

type lookup struct {
	host string
	name nameState
}

// namesNotResolved returns nil if a name was resolved, or only one was not, unless that exists or no server
// was asked about it.
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
	if names = distinct(names); !sure && len(names) < 2 {
		return nil
	}
	return names
}

// isLookedUp reports whether a host, with or without a port, has a name to resolve.
func isLookedUp(host string) bool {
	name := hostname(host)
	return name != "" && name != "localhost" && net.ParseIP(strings.Trim(name, "[]")) == nil
}

// noteReached sets reached if dial has reached a server by a name.
func noteReached(reached *atomic.Bool, dial dialFunc) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err == nil && isLookedUp(address) {
			reached.Store(true)
		}
		return conn, err
	}
}

type dialFunc = func(ctx context.Context, network, address string) (net.Conn, error)
