package hostname

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// MayPointTo reports whether a server at one URL may point a client to another URL, and why not.
func MayPointTo(from, to *url.URL) (reason string, ok bool) {
	scope := ScopeOf(to.Hostname())
	if scope.AllowedFrom(from) {
		return "", true
	}
	return "its host is " + scope.String(), false
}

// IsLoopback reports whether the host of a URL is "localhost" or a loopback address. Other names
// are not resolved, because the answer could differ when the connection is made.
func IsLoopback(u *url.URL) bool {
	host := u.Hostname()
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

// Scope says from where a host has the same meaning.
type Scope int

const (
	Anywhere Scope = iota
	ThisMachine
	// ThisLink is the scope of the machine's own link, and of the metadata services of clouds.
	ThisLink
	// NotAnAddress is the scope of a number that resolvers read differently.
	NotAnAddress
)

// AllowedFrom reports whether a server at a URL may point a client to a host of this scope.
func (s Scope) AllowedFrom(from *url.URL) bool {
	return s == Anywhere || s != NotAnAddress && s == ScopeOf(from.Hostname())
}

// String describes the host in messages, after "its host is".
func (s Scope) String() string {
	switch s {
	case Anywhere:
		return "reachable from anywhere"
	case ThisMachine:
		return "this machine"
	case ThisLink:
		return "an address that only has a meaning on this machine"
	}
	return "a number that is not an address"
}

// metadata lists the addresses of metadata services that are not link-local:
// those of AWS and Oracle over IPv6, and of Alibaba.
var metadata = []netip.Addr{
	netip.MustParseAddr("fd00:ec2::254"), netip.MustParseAddr("fd00:c1::a9fe:a9fe"), netip.MustParseAddr("100.100.100.200"),
}

// ScopeOf judges a host by its text. Names except localhost are Anywhere, because they are not resolved.
func ScopeOf(written string) Scope {
	host := Canonical(written)
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return ThisMachine
	}
	addr, err := netip.ParseAddr(host)
	switch {
	case err != nil && endsInNumber(host), err == nil && !isAddress(written):
		return NotAnAddress
	case err != nil:
		return Anywhere
	}
	return ScopeOfAddr(addr)
}

func ScopeOfAddr(addr netip.Addr) Scope {
	addr = ipv4Of(addr.WithZone(""))
	switch {
	case addr.IsLoopback(), addr.IsUnspecified(), addr.Is4() && addr.As4()[0] == 0:
		return ThisMachine
	case addr.IsLinkLocalUnicast(), addr.IsMulticast(), slices.Contains(metadata, addr), addr == netip.AddrFrom4([4]byte{255, 255, 255, 255}):
		return ThisLink
	}
	return Anywhere
}

func isAddress(written string) bool {
	_, err := netip.ParseAddr(strings.TrimSuffix(written, "."))
	return err == nil
}

var (
	nat64  = netip.MustParsePrefix("64:ff9b::/96")
	sixTo4 = netip.MustParsePrefix("2002::/16")
)

// ipv4Of returns the IPv4 address that an IPv6 address represents, or addr itself.
func ipv4Of(addr netip.Addr) netip.Addr {
	addr = addr.Unmap()
	if addr.Is4() {
		return addr
	}
	bytes := addr.As16()
	switch {
	case nat64.Contains(addr):
		return netip.AddrFrom4([4]byte(bytes[12:16]))
	case sixTo4.Contains(addr):
		return netip.AddrFrom4([4]byte(bytes[2:6]))
	}
	return addr
}
