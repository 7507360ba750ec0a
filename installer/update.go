package installer

import (
	"slices"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/versions"
)

// Update says for which calls and providers Install selects new versions. The zero value updates nothing.
type Update struct {
	// All selects all versions as if nothing was locked, and Keys those of the named calls. If the content of a
	// call must not change but has, All keeps its entry with an [event.WarningMoved]; for a call in Keys that is
	// an error. See [ContentChangedError].
	All  bool
	Keys []addrs.Module
	// Providers are addresses as in a configuration. All includes every provider that the scope has.
	Providers []string
	// To is the version to select for the only call in Keys or the only provider in Providers; zero means the
	// newest version that the constraints allow.
	To             versions.Version
	AllowDowngrade bool // allows a lower version than the locked one, which otherwise is a [versions.ErrDowngrade]
	// AcceptChanged names calls whose content may change while the version, tag or address stays the same.
	// AcceptAllChanged does so for all calls, as "init -upgrade" of stock tools does.
	AcceptChanged    []addrs.Module
	AcceptAllChanged bool
}

// has reports whether the update includes a call, and covers whether it includes that or a call above it.
func (u Update) has(key string) bool { return u.All || hasPath(u.Keys, key) }

func (u Update) covers(path addrs.Module) bool {
	for i := range path {
		if u.has(path[:i+1].String()) {
			return true
		}
	}
	return u.All
}

func (u Update) named() []addrs.Module { return slices.Concat(u.Keys, u.AcceptChanged) }

func hasPath(paths []addrs.Module, key string) bool {
	return slices.ContainsFunc(paths, func(p addrs.Module) bool { return p.String() == key })
}

func (u Update) accepts(keys ...string) bool {
	return u.AcceptAllChanged || slices.ContainsFunc(keys, func(key string) bool { return hasPath(u.AcceptChanged, key) })
}

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
