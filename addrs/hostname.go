package addrs

import (
	"strings"

	"github.com/opentofu/svchost"
	"golang.org/x/net/idna"
)

// Hostname is a host in lower-case ASCII, with a port unless that is 443, as [ParseHostname] returns it.
type Hostname string

// The default registries of the dialects, for addresses without a host.
const (
	DefaultRegistryHost   = Hostname("registry.opentofu.org")
	TerraformRegistryHost = Hostname("registry.terraform.io")
)

// ParseHostname parses HOST[:PORT] as users write it, with international names in Unicode, not in
// punycode. IPv4 addresses are accepted; there is no syntax for IPv6. A single label is valid, but the
// host of a module source address must have a dot. The error is a *[ParseError].
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

// hostFault describes what is wrong with a host that svchost accepted; "" if it is valid. svchost accepts
// any small integer as a port, checks for empty labels before it maps other characters to dots or to
// nothing, and converts text that is not UTF-8 to a name that cannot be displayed.
func hostFault(host Hostname) string {
	if _, port, _ := strings.Cut(string(host), ":"); strings.HasPrefix(port, "-") {
		return "the port is negative"
	}
	return hostNameFault(host)
}

// hostNameFault does not check the port: addresses of providers may have a negative one in stock tools.
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

func (h Hostname) String() string { return string(h) }

// ForDisplay returns the host in Unicode, for messages; one that was not validated is unchanged.
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
