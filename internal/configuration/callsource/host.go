package callsource

import (
	"net/url"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/net/hostname"
	"github.com/cotterpin/cotter/lockfile"
)

// OriginOf returns the scheme and host of a lock entry's package as a URL, or "".
func OriginOf(entry lockfile.Module) string {
	at, err := entry.Package.Package.Location()
	if err != nil || at.Host() == "" {
		return ""
	}
	return hostname.Origin(at.URL())
}

// Host returns a URL with the host of the source address, or nil.
func (s Source) Host() *url.URL {
	switch address := s.Address.(type) {
	case addrs.ModuleSourceRegistry:
		return &url.URL{Scheme: "https", Host: string(address.Package.Host)}
	case addrs.ModuleSourceRemote:
		if at, err := address.Package.Location(); err == nil {
			return at.URL()
		}
	}
	return nil
}
