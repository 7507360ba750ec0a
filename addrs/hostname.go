package addrs

import (
	"strings"

	"github.com/opentofu/svchost"
	"golang.org/x/net/idna"
)

// Hostname is a host, with a port unless that is 443, in a form that can be compared with
// ==: lower case, ASCII. [ParseHostname] returns such values.
type Hostname string

// The default registries of the dialects, for addresses without a host.
const (
	DefaultRegistryHost   = Hostname("registry.opentofu.org")
	TerraformRegistryHost = Hostname("registry.terraform.io")
)

// ParseHostname parses HOST[:PORT] as users write it. International names must be in
// Unicode, not in punycode. IPv4 addresses are accepted; there is no syntax for IPv6
// addresses. The default port 443 is dropped. The error is a *[ParseError].
//
// A name with a single label is a valid hostname, but the host of a module source address
// must have a dot.
func ParseHostname(s string) (Hostname, error) {
	found, err := svchost.ForComparison(s)
	host := Hostname(found)
	if err != nil {
		return "", &ParseError{What: "hostname", Input: Redact(s), Reason: err.Error(), Err: err}
	}
	if reason := hostFault(host); reason != "" {
		return "", &ParseError{What: "hostname", Input: Redact(s), Reason: reason}
	}
	return host, nil
}

// hostFault describes what is wrong with a host that svchost accepted; "" if it is valid.
// svchost accepts any port that is a small enough integer. It checks for empty labels
// before it maps other characters to dots or to nothing. And it converts text that is not
// UTF-8 to a name that cannot be displayed.
func hostFault(host Hostname) string {
	if _, port, _ := strings.Cut(string(host), ":"); strings.HasPrefix(port, "-") {
		return "the port is negative"
	}
	return hostNameFault(host)
}

// hostNameFault is hostFault without the check of the port: the addresses of providers may
// have a negative port, as in stock tools.
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

// String returns the form that is compared.
func (h Hostname) String() string { return string(h) }

// ForDisplay returns the host for messages, in Unicode. A Hostname that was not validated is returned
// unchanged.
func (h Hostname) ForDisplay() string {
	name, port, hasPort := strings.Cut(string(h), ":")
	display, err := idna.Lookup.ToUnicode(name)
	if err != nil {
		return string(h)
	}
	if hasPort {
		return display + ":" + port
	}
	return display
}
