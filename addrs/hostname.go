package addrs

import (
	"strings"

	"github.com/opentofu/svchost"
	"golang.org/x/net/idna"
)

// Hostname is a host, with a port unless that is 443, in a form that can be compared
// with ==: lower case, ASCII. [ParseHostname] returns one. Its ForDisplay method returns
// the form for messages.
type Hostname = svchost.Hostname

// The registries of addresses without a host.
const (
	DefaultRegistryHost   = Hostname("registry.opentofu.org")
	TerraformRegistryHost = Hostname("registry.terraform.io")
)

// ParseHostname parses HOST[:PORT] as users write it: international names in
// Unicode, never in punycode. IPv4 addresses are accepted; IPv6 addresses have no
// syntax. The default port 443 is dropped. The error is a *[ParseError].
//
// A name of one label is a hostname, although a module source address needs
// one with a dot.
func ParseHostname(s string) (Hostname, error) {
	host, err := svchost.ForComparison(s)
	if err != nil {
		return "", &ParseError{What: "hostname", Input: s, Reason: err.Error(), Err: err}
	}
	if reason := hostFault(host); reason != "" {
		return "", &ParseError{What: "hostname", Input: s, Reason: reason}
	}
	return host, nil
}

// hostFault says what is wrong with a host that svchost accepted. svchost accepts any
// integer that is not too large as a port. It checks for empty labels before it maps
// other characters to dots or to nothing. From bytes that are not UTF-8 it makes a name
// on which its ForDisplay method panics.
func hostFault(host Hostname) string {
	if _, port, _ := strings.Cut(string(host), ":"); strings.HasPrefix(port, "-") {
		return "the port is negative"
	}
	return hostNameFault(host)
}

// hostNameFault is hostFault without the port: providers' addresses may have a
// negative one, in stock tools too.
func hostNameFault(host Hostname) string {
	name, _, _ := strings.Cut(string(host), ":")
	if name == "" {
		return "the name is empty"
	}
	// svchost accepts two dots at the end.
	if strings.HasPrefix(name, ".") || strings.Contains(strings.TrimSuffix(name, "."), "..") {
		return "the name has an empty label"
	}
	if _, err := idna.Lookup.ToUnicode(name); err != nil {
		return "the name is not valid Unicode"
	}
	return ""
}

// displayHost is host.ForDisplay, but returns a Hostname that was not validated
// unchanged, on which the method would panic.
func displayHost(host Hostname) string {
	name, port, hasPort := strings.Cut(string(host), ":")
	display, err := idna.Lookup.ToUnicode(name)
	if err != nil {
		return string(host)
	}
	if hasPort {
		return display + ":" + port
	}
	return display
}
