package installer

import (
	"slices"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/versions"
)

// Update says for which calls and providers Install selects new versions instead of the
// locked ones. The zero value updates nothing.
type Update struct {
	// All selects all versions as if nothing was locked. Keys does the same for the named
	// calls only.
	All  bool
	Keys []addrs.Module
	// Providers does the same for the named providers; All includes every provider if
	// the scope has providers. They are addresses as in a configuration: without a host, they
	// refer to the registry of the project's dialect.
	Providers []string
	// To is the version to select for the only call in Keys or the only provider in Providers; zero
	// means the newest version that the constraints allow.
	To versions.Version
	// AllowDowngrade allows a version that is lower than the locked one. Otherwise this is
	// an error that wraps [versions.ErrDowngrade].
	AllowDowngrade bool
	// AcceptChanged names the calls whose content may change while the version, tag or
	// address stays the same; see [ContentChangedError]. As for Keys, each call needs to exist.
	// AcceptAllChanged does the same for every call. With All, it makes a run as trusting as
	// "init -upgrade" of stock tools, which compare nothing.
	AcceptChanged    []addrs.Module
	AcceptAllChanged bool
}

// has reports whether the update includes a call.
func (u Update) has(key string) bool { return u.All || hasPath(u.Keys, key) }

// covers reports whether the update includes a call or a call above it.
func (u Update) covers(path addrs.Module) bool {
	for i := range path {
		if u.has(path[:i+1].String()) {
			return true
		}
	}
	return u.All
}

// named returns the calls that the update names. Each needs to exist.
func (u Update) named() []addrs.Module { return slices.Concat(u.Keys, u.AcceptChanged) }

func hasPath(paths []addrs.Module, key string) bool {
	return slices.ContainsFunc(paths, func(p addrs.Module) bool { return p.String() == key })
}

// accepts reports whether the content of a call may change.
func (u Update) accepts(keys ...string) bool {
	return u.AcceptAllChanged || slices.ContainsFunc(keys, func(key string) bool { return hasPath(u.AcceptChanged, key) })
}

// fields returns the names of the fields that select new versions.
func (u Update) fields() []string {
	var set []string
	for _, field := range []struct {
		name  string
		isSet bool
	}{
		{"Update.All", u.All}, {"Update.Keys", len(u.Keys) > 0}, {"Update.Providers", len(u.Providers) > 0}, {"Update.To", !u.To.IsZero()},
	} {
		if field.isSet {
			set = append(set, field.name)
		}
	}
	return set
}
