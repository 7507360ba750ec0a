// Package hostname is about the hosts of URLs: one spelling for each, and which of them a server may point a
// client to. Clients and resolvers accept many spellings of one host ("127.1", "0x7f.1", a final dot), so a
// rule that compares texts can be circumvented: a host is compared in the form of [Canonical], and requested
// in that of [ToRequest]. Names are not resolved: "localhost" and "127.0.0.1" are different hosts.
//
// A client that follows any location can be abused to send requests to services of its own machine, and to
// the cloud's metadata service, which returns credentials. So a server elsewhere must not point a client to
// another [Scope]. Addresses of private networks are allowed, because companies run servers there. Only
// the text of a host is checked here; package httpx also checks the addresses of connections.
package hostname

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// lenient also maps names that are not strict, such as those with "_". Git accepts them.
var lenient = idna.New(idna.MapForLookup(), idna.StrictDomainName(false))

// Canonical returns the form of a host for comparisons. The host has no port, and an IPv6 address has
// no brackets. Names are in lower case and in ASCII (IDNA), without dots at the end. Addresses are in
// the form of [netip.Addr.String], without a zone. An IPv6 address that maps an IPv4 address is that
// IPv4 address.
func Canonical(host string) string {
	host = strings.ToLower(host)
	if ascii, err := idna.Lookup.ToASCII(host); err == nil {
		host = ascii
	} else if ascii, err := lenient.ToASCII(host); err == nil {
		host = ascii
	}
	host = strings.TrimRight(host, ".")
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.WithZone("").Unmap().String()
	}
	if addr, ok := parseIPv4(host); ok {
		return addr.String()
	}
	return host
}

// ToRequest returns the spelling in which a host is requested. A number that is not written as an
// address, such as "127.1", is replaced by the address, because clients and resolvers differ in what
// they read it as. Other hosts are returned unchanged: they mean the same to all clients, and
// credentials and the settings of git are looked up by the spelling that the user chose.
func ToRequest(host string) string {
	if _, err := netip.ParseAddr(host); err == nil {
		return host
	}
	canonical := Canonical(host)
	if _, err := netip.ParseAddr(canonical); err == nil {
		return canonical
	}
	return host
}

// NormalizeURL gives the host of a URL its [ToRequest] spelling, and removes the colon of an empty port.
func NormalizeURL(u *url.URL) {
	u.Host = strings.TrimSuffix(u.Host, ":")
	host := u.Hostname()
	spelling := ToRequest(host)
	switch port := u.Port(); {
	case spelling == host:
	case port != "":
		u.Host = net.JoinHostPort(spelling, port)
	default:
		u.Host = strings.Replace(u.Host, host, spelling, 1)
	}
}

// endsInNumber reports whether a canonical host that is not an address is a number, such as "1.2.3.4.5" or
// "256.1.1.1". Resolvers differ in what they do with these.
func endsInNumber(canonical string) bool {
	label := canonical[strings.LastIndexByte(canonical, '.')+1:]
	_, ok := parsePart(label)
	return ok || label != "" && strings.Trim(label, "0123456789") == ""
}

const maxParts = 4

// parseIPv4 parses the spellings of IPv4 addresses that inet_aton accepts: up to four numbers, decimal,
// octal with a leading "0", or hexadecimal with "0x". The last one fills all remaining bytes.
func parseIPv4(host string) (addr netip.Addr, ok bool) {
	parts := strings.Split(host, ".")
	if len(parts) > maxParts {
		return netip.Addr{}, false
	}
	var value uint64
	for i, part := range parts {
		n, ok := parsePart(part)
		isLast := i == len(parts)-1
		switch {
		case !ok, !isLast && n > 0xff:
			return netip.Addr{}, false
		case !isLast:
			value |= n << (8 * (maxParts - 1 - i))
		case n >= 1<<(8*(maxParts-i)):
			return netip.Addr{}, false
		default:
			value |= n
		}
	}
	return netip.AddrFrom4([4]byte{byte(value >> 24), byte(value >> 16), byte(value >> 8), byte(value)}), true
}

// parsePart parses one number of an IPv4 address. "0x" is 0, as in browsers.
func parsePart(part string) (n uint64, ok bool) {
	base := 10
	switch {
	case part == "":
		return 0, false
	case strings.HasPrefix(part, "0x"):
		part, base = part[2:], 16
	case part[0] == '0':
		base = 8
	}
	if part == "" {
		return 0, true
	}
	n, err := strconv.ParseUint(part, base, 64)
	return n, err == nil && !strings.ContainsAny(part, "+_")
}

// Origin returns what credentials are bound to: "https://host", or "https://host:8443" for another port
// than the default one.
func Origin(u *url.URL) string {
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if port == "" || u.Scheme == "https" && port == "443" || u.Scheme == "http" && port == "80" {
		if strings.Contains(host, ":") {
			host = "[" + host + "]"
		}
		return u.Scheme + "://" + host
	}
	return u.Scheme + "://" + net.JoinHostPort(host, port)
}
