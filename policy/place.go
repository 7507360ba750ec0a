package policy

import (
	"net"
	"path"
	"strings"

	"golang.org/x/net/idna"

	"github.com/cotterpin/cotter/addrs"
)

// place is the location of a package in the form that patterns match. It is the same for
// all transports to a repository.
type place struct {
	host string // lower case, ASCII; "" for this machine
	port string // "" for the usual port of the transport
	path []string
}

// usualPorts maps transports to their default ports.
var usualPorts = map[string]string{"https": "443", "http": "80", "ssh": "22", "git": "9418", "oci": "443"}

func registryPlace(pkg addrs.ModuleRegistryPackage) place {
	host, port, _ := strings.Cut(string(pkg.Host), ":")
	return place{host: canonicalHost(host), port: port, path: elements(pkg.ForRegistryProtocol())}
}

func providerPlace(p addrs.Provider) place {
	host, port, _ := strings.Cut(string(p.Hostname), ":")
	return place{host: canonicalHost(host), port: port, path: []string{p.Namespace, p.Type}}
}

func packagePlace(pkg addrs.ModulePackage) (place, error) {
	u, err := pkg.URL()
	if err != nil {
		return place{}, err
	}
	p := place{host: canonicalHost(u.Hostname()), port: u.Port(), path: elements(u.Path)}
	if p.port == usualPorts[u.Scheme] {
		p.port = ""
	}
	return p, nil
}

// canonicalHost returns the form of a host for comparisons, in lower case and ASCII.
func canonicalHost(host string) string {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if ascii, err := idna.Lookup.ToASCII(host); err == nil {
		return ascii
	}
	return host
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
	if p.port != "" {
		host = net.JoinHostPort(host, p.port)
	}
	return strings.Join(append([]string{host}, p.path...), "/")
}
