package cotter

import (
	"fmt"
	"strings"

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
