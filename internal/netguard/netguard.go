// Package netguard decides which hosts a server may point a client to by a redirect, a location
// or a link in a page.
//
// A client that follows any location can be abused to send requests that only its own machine can
// send: to local services, and to the cloud's metadata service, which returns credentials. So a
// server elsewhere must not point to
//
//   - this machine: "localhost", names below it, loopback and unspecified
//     addresses
//   - the machine's own link: link-local addresses such as 169.254.169.254,
//     multicast, and the other addresses at which clouds run their metadata
//     services
//   - a number that is not written as an address ("2130706433", "0x7f.1",
//     "127.1"), which some resolvers accept; a server has no reason to write
//     an address like that
//
// A server on this machine may point to this machine. An IPv6 address that represents an IPv4
// address (mapped, NAT64, 6to4) is treated like that address.
//
// Only the text of a host is checked; names are not resolved. Addresses of private networks are
// allowed, because companies run servers there.
package netguard

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/hostname"
)

// May reports whether a server at one URL may point a client to another URL. If it may not,
// reason describes why.
func May(from, to *url.URL) (reason string, ok bool) {
	switch place := placeOf(to.Hostname()); {
	case place == elsewhere:
		return "", true
	case place == nowhere:
		return "its host is a number that is not an address", false
	case place == placeOf(from.Hostname()):
		return "", true
	case place == thisMachine:
		return "its host is this machine", false
	}
	return "its host is an address that only has a meaning on this machine", false
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

// place classifies a host from the point of view of this machine.
type place int

const (
	elsewhere place = iota
	thisMachine
	thisLink
	nowhere
)

// metadata lists the addresses of metadata services that are not link-local:
// those of AWS and Oracle over IPv6, and of Alibaba.
var metadata = []netip.Addr{
	netip.MustParseAddr("fd00:ec2::254"), netip.MustParseAddr("fd00:c1::a9fe:a9fe"), netip.MustParseAddr("100.100.100.200"),
}

func placeOf(written string) place {
	host := hostname.Canonical(written)
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return thisMachine
	}
	addr, err := netip.ParseAddr(host)
	switch {
	case err != nil && hostname.EndsInNumber(host), err == nil && !isAddress(written):
		return nowhere
	case err != nil:
		return elsewhere
	}
	addr = ipv4Of(addr)
	switch {
	case addr.IsLoopback(), addr.IsUnspecified(), addr.Is4() && addr.As4()[0] == 0:
		return thisMachine
	case addr.IsLinkLocalUnicast(), addr.IsMulticast(), slices.Contains(metadata, addr), addr == netip.AddrFrom4([4]byte{255, 255, 255, 255}):
		return thisLink
	}
	return elsewhere
}

// isAddress reports whether a host is written as an address, and not as a number that is read as one.
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
