package policy

import (
	"cmp"
	"net"
	"strings"
	"unicode"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/net/hostname"
)

// location is the location of a package in the form that patterns match, for all transports.
type location struct {
	host  string // in the form of hostname.Canonical; "" for this machine
	port  string // without leading zeros; "" for a transport without a usual port
	usual bool
	path  []string
	// bucket is the same for all addresses of a place in an object store; key is the part of path in it.
	bucket addrs.Bucket
	key    []string
}

var usualPorts = map[string]string{"https": "443", "http": "80", "ssh": "22", "git": "9418", "oci": "443"}

func registryLocation(pkg addrs.ModuleRegistryPackage) location {
	return hostLocation(pkg.Host, strings.Split(pkg.ForRegistryProtocol(), "/"))
}

func providerLocation(p addrs.Provider) location {
	return hostLocation(p.Hostname, []string{p.Namespace, p.Type})
}

// hostLocation returns a location at a registry's host, which is queried by https.
func hostLocation(at addrs.Hostname, path []string) location {
	host, port, _ := strings.Cut(string(at), ":")
	port = strings.TrimLeft(port, "0")
	return location{host: hostname.Canonical(host), path: path}.withPort("https", port)
}

// readLocations returns the readings of a location. The first one is the literal one.
func readLocations(at addrs.Location) []location {
	var all []location
	for _, read := range at.Readings() {
		l := location{host: read.Host(), path: withoutSuffix(read.Path()), bucket: read.Bucket(), key: read.KeyElements()}
		all = append(all, l.withPort(read.URL().Scheme, read.Port()))
	}
	return all
}

func (l location) withPort(transport, port string) location {
	usual := usualPorts[strings.ToLower(transport)]
	l.port = cmp.Or(port, usual)
	l.usual = l.port == usual
	return l
}

func withoutSuffix(path []string) []string {
	if n := len(path); n > 0 {
		path[n-1] = strings.TrimSuffix(path[n-1], ".git")
	}
	return path
}

func (l location) String() string {
	host := l.host
	switch {
	case !l.usual:
		host = net.JoinHostPort(host, l.port)
	case strings.Contains(host, ":"):
		host = "[" + host + "]"
	}
	return strings.Join(append([]string{host}, l.path...), "/")
}

// loose returns an element in lower case, without what some servers ignore at its end: spaces, parameters
// and ".git".
func loose(element string) string {
	element = strings.ToLower(element)
	for {
		shorter, _, _ := strings.Cut(element, ";")
		shorter = strings.TrimSuffix(strings.TrimRightFunc(shorter, unicode.IsSpace), ".git")
		if shorter == element {
			return element
		}
		element = shorter
	}
}
