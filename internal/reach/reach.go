// Package reach says which hosts a server may lead to, by a redirect, a location
// or a link in a page.
//
// A program that goes wherever servers lead can be made to ask what only this
// machine can ask: its own services, and the metadata service of its cloud,
// which gives away credentials. So a server that is elsewhere does not lead to
//
//   - this machine: "localhost", names below it, loopback and unspecified
//     addresses
//   - the machine's own link: link-local addresses, such as 169.254.169.254,
//     multicast, and the addresses at which clouds have their metadata beside
//     these
//   - a number in another form than that of an address ("2130706433", "0x7f.1",
//     "127.1"), which some resolvers take for one
//
// while a server on this machine may lead to this machine. Addresses of IPv6 that
// stand for one of IPv4 (mapped, NAT64, 6to4) are looked through.
//
// It looks at hosts as they are written, and does not ask what names stand for.
// Addresses of private networks are where a company has its servers; to lead
// there is no offence.
package reach

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// maxLocation bounds addresses that servers name.
const maxLocation = 8 << 10

// Redirect returns where the answer to a request for a URL redirects to by its
// header Location, or else the reason not to follow it, to stand after "the server
// redirects". Only http and https are followed, and never from https to http.
// Credentials and fragments are taken off.
func Redirect(from *url.URL, location string) (to *url.URL, reason string) {
	to, err := from.Parse(location)
	switch {
	case err != nil || location == "" || len(location) > maxLocation:
		return nil, "to what is no valid URL"
	case to.Hostname() == "" || to.Scheme != "https" && to.Scheme != "http":
		return nil, fmt.Sprintf("to %q", to.Scheme+"://")
	case from.Scheme == "https" && to.Scheme != "https":
		return nil, "from https to http"
	}
	if reason, ok := May(from, to); !ok {
		return nil, fmt.Sprintf("to %q, and %s", to.Scheme+"://"+to.Host, reason)
	}
	to.User, to.Fragment, to.RawFragment = nil, "", ""
	return to, ""
}

// May reports whether a server may lead from one URL to another. The reason says
// why not.
func May(from, to *url.URL) (reason string, ok bool) {
	switch place := placeOf(to.Hostname()); {
	case place == elsewhere:
		return "", true
	case place == nowhere:
		return "its host is a number that is no address", false
	case place == placeOf(from.Hostname()):
		return "", true
	case place == thisMachine:
		return "its host is this machine", false
	}
	return "its host is an address that has a meaning for this machine only", false
}

type place int

const (
	elsewhere place = iota
	thisMachine
	thisLink
	nowhere
)

// metadata are addresses at which clouds have their metadata services, beside
// link-local ones: those of AWS and Oracle by IPv6, and of Alibaba.
var metadata = []netip.Addr{
	netip.MustParseAddr("fd00:ec2::254"), netip.MustParseAddr("fd00:c1::a9fe:a9fe"), netip.MustParseAddr("100.100.100.200"),
}

func placeOf(host string) place {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return thisMachine
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		if isNumber(host[strings.LastIndexByte(host, '.')+1:]) {
			return nowhere
		}
		return elsewhere
	}
	addr = standsFor(addr.WithZone(""))
	switch {
	case addr.IsLoopback(), addr.IsUnspecified(), addr.Is4() && addr.As4()[0] == 0:
		return thisMachine
	case addr.IsLinkLocalUnicast(), addr.IsMulticast(), slices.Contains(metadata, addr), addr == netip.AddrFrom4([4]byte{255, 255, 255, 255}):
		return thisLink
	}
	return elsewhere
}

// isNumber reports whether the last label of a host makes it an IPv4 address for
// those who read numbers as C does.
func isNumber(label string) bool {
	hex, isHex := strings.CutPrefix(label, "0x")
	if isHex {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return label != "" && strings.Trim(label, "0123456789") == ""
}

var (
	nat64  = netip.MustParsePrefix("64:ff9b::/96")
	sixTo4 = netip.MustParsePrefix("2002::/16")
)

// standsFor is the address of IPv4 that one of IPv6 stands for, or else addr.
func standsFor(addr netip.Addr) netip.Addr {
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
