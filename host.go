package cotter

import (
	"fmt"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/lockfile"
)

// HostChangedError says that a call without a registry host would get its module
// from another registry than the lock has, because another stock tool's
// conventions apply than did when it was locked. Request.Dialect decides.
type HostChangedError struct {
	// Key is the path of the module call, with dots.
	Key string
	// Locked is the host in the lock, and Now the one that the call would mean.
	Locked, Now string
	// Dialect is the one by which the lock's host is meant.
	Dialect Dialect
}

func (e *HostChangedError) Error() string {
	return fmt.Sprintf("the lock has it from %s, and it would now come from %s, though the call is the same; --for %s keeps the registry, --for %s changes it",
		e.Locked, e.Now, e.Dialect, e.Dialect.other())
}

// hostless is the first call of a registry's module, by its path, that leaves the
// host to the stock tool.
type hostless struct {
	mu   sync.Mutex
	call *node
}

func (h *hostless) note(n *node) {
	if _, ok := n.source.(addrs.ModuleSourceRegistry); !ok || !meansHost(n.call.Source) {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.call == nil || compareKeys(n.path.String(), h.call.path.String()) < 0 {
		h.call = n
	}
}

// dialectMatters is [Result.DialectMatters] of the run.
func (r *run) dialectMatters() bool {
	return r.req.Dialect != DialectAuto || !r.detected.guessed() || r.hostless.call != nil
}

// assumption says which stock tool the project was taken to be for, if that
// matters and was not certain; "" otherwise.
func (r *run) assumption() string {
	n := r.hostless.call
	if n == nil || r.req.Dialect != DialectAuto {
		return ""
	}
	assumed := fmt.Sprintf("%s was assumed, so %q (%s:%d) comes from %s; --for tofu or --for terraform decides",
		r.dialect, addrs.Redact(n.call.Source), n.call.Range.Filename, n.call.Range.Start.Line, r.dialect.registryHost().ForDisplay())
	if r.detected.guessed() {
		return "nothing in the project tells whether it is for tofu or for terraform; " + assumed
	}
	if against := r.detected.contradiction(); against != "" {
		return fmt.Sprintf("it is not clear which stock tool the project is for: %s (%s), but %s (%s); %s",
			r.detected.signs[0].what, r.dialect, against, r.dialect.other(), assumed)
	}
	return ""
}

// other is the other stock tool.
func (d Dialect) other() Dialect {
	if d == DialectTerraform {
		return DialectOpenTofu
	}
	return DialectTerraform
}

// checkHost refuses to take a locked module from another registry unless the
// user has said whose conventions apply.
func (r *run) checkHost(n *node, entry lockfile.Module) error {
	source, ok := n.source.(addrs.ModuleSourceRegistry)
	if !ok || r.req.Dialect != DialectAuto || entry.Source == "" || entry.Source == lockAddress(n.source) {
		return nil
	}
	other := r.dialect.other()
	was, err := other.parser().ParseModuleSource(n.call.Source)
	if err != nil || lockAddress(was) != entry.Source {
		return nil //nolint:nilerr // the call itself has changed
	}
	host, _, _ := strings.Cut(entry.Source, "/")
	return &HostChangedError{Key: entry.Key, Locked: host, Now: source.Package.Host.ForDisplay(), Dialect: other}
}
