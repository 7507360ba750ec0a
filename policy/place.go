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

// place is the location of a package in the form that patterns match. It is the same for
// all transports to a repository.
type place struct {
	host string // in the form of hostname.Canonical; "" for this machine
	port string // without leading zeros; "" for a transport without a usual port
	// usual is set if port is the usual port of the transport.
	usual bool
	path  []string
}

// usualPorts maps transports to their default ports.
var usualPorts = map[string]string{"https": "443", "http": "80", "ssh": "22", "git": "9418", "oci": "443"}

func registryPlace(pkg addrs.ModuleRegistryPackage) place {
	return hostPlace(pkg.Host, elements(pkg.ForRegistryProtocol()))
}

func providerPlace(p addrs.Provider) place {
	return hostPlace(p.Hostname, []string{p.Namespace, p.Type})
}

// hostPlace returns a place at the host of a registry, which is queried by https.
func hostPlace(at addrs.Hostname, path []string) place {
	host, port, _ := strings.Cut(string(at), ":")
	return newPlace("https", host, port, path)
}

func packagePlace(pkg addrs.ModulePackage) (place, error) {
	u, err := pkg.URL()
	if err != nil {
		return place{}, err
	}
	return urlPlace(u), nil
}

func urlPlace(u *url.URL) place {
	return newPlace(u.Scheme, u.Hostname(), u.Port(), elements(u.Path))
}

func newPlace(transport, host, port string, path []string) place {
	usual := usualPorts[strings.ToLower(transport)]
	port = canonicalPort(cmp.Or(port, usual))
	return place{host: hostname.Canonical(host), port: port, usual: port == usual, path: path}
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

// String returns the place in the form of a pattern that matches it.
func (p place) String() string {
	host := p.host
	switch {
	case !p.usual:
		host = net.JoinHostPort(host, p.port)
	case strings.Contains(host, ":"):
		host = "[" + host + "]"
	}
	return strings.Join(append([]string{host}, p.path...), "/")
}
