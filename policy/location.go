package policy

import (
	"cmp"
	"net"
	"net/url"
	"path"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/hostname"
)

// location is the location of a package in the form that patterns match. It is the same for
// all transports to a repository.
type location struct {
	host string // in the form of hostname.Canonical; "" for this machine
	port string // without leading zeros; "" for a transport without a usual port
	// usual is set if port is the usual port of the transport.
	usual bool
	path  []string
}

// usualPorts maps transports to their default ports.
var usualPorts = map[string]string{"https": "443", "http": "80", "ssh": "22", "git": "9418", "oci": "443"}

func registryLocation(pkg addrs.ModuleRegistryPackage) location {
	return hostLocation(pkg.Host, elements(pkg.ForRegistryProtocol()))
}

func providerLocation(p addrs.Provider) location {
	return hostLocation(p.Hostname, []string{p.Namespace, p.Type})
}

// hostLocation returns a location at the host of a registry, which is queried by https.
func hostLocation(at addrs.Hostname, path []string) location {
	host, port, _ := strings.Cut(string(at), ":")
	return newLocation("https", host, port, path)
}

func packageLocation(pkg addrs.ModulePackage) (location, error) {
	u, err := pkg.URL()
	if err != nil {
		return location{}, err
	}
	return urlLocation(u), nil
}

func urlLocation(u *url.URL) location {
	return newLocation(u.Scheme, u.Hostname(), u.Port(), elements(u.Path))
}

func newLocation(transport, host, port string, path []string) location {
	usual := usualPorts[strings.ToLower(transport)]
	port = canonicalPort(cmp.Or(port, usual))
	return location{host: hostname.Canonical(host), port: port, usual: port == usual, path: path}
}

// canonicalPort returns a port without leading zeros.
func canonicalPort(port string) string {
	if trimmed := strings.TrimLeft(port, "0"); trimmed != "" {
		return trimmed
	}
	return port
}

// elements returns the elements of a cleaned path, without a final ".git".
func elements(p string) []string {
	p = strings.Trim(path.Clean("/"+p), "/")
	if p == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(p, ".git"), "/")
}

// String returns the location in the form of a pattern that matches it.
func (p location) String() string {
	host := p.host
	switch {
	case !p.usual:
		host = net.JoinHostPort(host, p.port)
	case strings.Contains(host, ":"):
		host = "[" + host + "]"
	}
	return strings.Join(append([]string{host}, p.path...), "/")
}
