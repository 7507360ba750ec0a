package main

import (
	"context"
	"errors"
	"fmt"
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
	var names []string
	sure := false // there is an unresolved name that exists, or no server answered
	for _, m := range all {
		if host := unresolved(m); host != nil {
			if !slices.Contains(names, host.host) {
				names = append(names, host.host)
			}
			sure = sure || host.name == nameNotAsked || slices.Contains(publicHosts, host.host)
		} else if isResolved(m.err) {
			return nil
		}
	}
	if len(names) == 0 || !sure && len(names) == 1 {
		return nil
	}
	slices.Sort(names)
	const most = 5
	shown := listed(names)
	if more := len(names) - most; more > 0 {
		shown = fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), more)
	}
	return &problem{error: &noNetwork{fact("no host name can be resolved, so the network or DNS is down: " + shown)}}
}

// isResolved reports whether an error is about a host whose name was resolved, and had to be.
func isResolved(err error) bool {
	if err == nil {
		return false
	}
	host := hostname(hostOf(err))
	return host != "" && host != "localhost" && net.ParseIP(strings.Trim(host, "[]")) == nil
}

// noteReached returns a function that opens connections as dial does. It sets reached if a server was
// reached by a name.
func noteReached(reached *atomic.Bool, dial dialFunc) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if host := hostname(address); err == nil && host != "localhost" && net.ParseIP(host) == nil {
			reached.Store(true)
		}
		return conn, err
	}
}

// dialFunc opens a connection, as [net.Dialer.DialContext] does.
type dialFunc = func(ctx context.Context, network, address string) (net.Conn, error)
