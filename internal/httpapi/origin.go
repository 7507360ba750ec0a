package httpapi

import (
	"net/netip"
	"net/url"
	"strings"
)

// SameOrigin reports whether two URLs agree in scheme, host and port, where no
// port is the scheme's own one.
func SameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	switch u.Scheme {
	case "https":
		return "443"
	case "http":
		return "80"
	}
	return ""
}

// IsLoopback reports whether the host of a URL is this machine by its very
// name: "localhost" or an address literal. Names are not looked up, because the
// answer could be another one when the connection is made.
func IsLoopback(u *url.URL) bool {
	host := u.Hostname()
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}
