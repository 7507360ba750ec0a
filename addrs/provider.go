package addrs

import (
	"cmp"
	"strings"
	"unicode/utf8"

	regaddr "github.com/opentofu/registry-address/v2"
)

// Provider names a provider in a registry. It is comparable.
type Provider struct {
	Hostname        Hostname
	Namespace, Type string
}

// String returns the full address HOST/NAMESPACE/TYPE, with the host in Unicode, as
// the lock has it.
func (p Provider) String() string {
	return displayHost(p.Hostname) + "/" + p.Namespace + "/" + p.Type
}

// defaultProviderNamespace is the namespace of an address that has none.
const defaultProviderNamespace = "hashicorp"

// ForDisplay returns the address without the parts that are OpenTofu's defaults.
func (p Provider) ForDisplay() string {
	switch {
	case p.Hostname != DefaultRegistryHost:
		return p.String()
	case p.Namespace == defaultProviderNamespace:
		return p.Type
	}
	return p.Namespace + "/" + p.Type
}

// Compare orders providers as locks have them: by the host in the form that is
// compared, the namespace and the type, each by its bytes.
func (p Provider) Compare(other Provider) int {
	return cmp.Or(
		strings.Compare(string(p.Hostname), string(other.Hostname)),
		strings.Compare(p.Namespace, other.Namespace),
		strings.Compare(p.Type, other.Type),
	)
}

// ParseProviderSource parses the source argument of a provider requirement,
// [HOST/]NAMESPACE/TYPE or TYPE, with the default registry of OpenTofu: "null" is
// registry.opentofu.org/hashicorp/null. See [Parser.ParseProviderSource].
func ParseProviderSource(raw string) (Provider, error) { return Parser{}.ParseProviderSource(raw) }

// ParseProviderSource parses the source argument of a provider requirement. The
// namespace of an address that has none is "hashicorp". The error is a *[ParseError].
func (p Parser) ParseProviderSource(raw string) (Provider, error) {
	const what = "provider source address"
	if !utf8.ValidString(raw) { // which the library accepts and cannot read back
		return Provider{}, &ParseError{What: what, Input: raw, Reason: "it is not valid UTF-8"}
	}
	found, err := regaddr.ParseProviderSource(raw)
	if err != nil {
		return Provider{}, &ParseError{What: what, Input: raw, Reason: err.Error(), Err: err}
	}
	host := found.Hostname
	if strings.Count(raw, "/") == 2 {
		if reason := hostFault(host); reason != "" {
			return Provider{}, &ParseError{What: what, Input: raw, Reason: reason}
		}
	} else if host = p.DefaultRegistryHost; host == "" {
		host = DefaultRegistryHost
	}
	namespace := found.Namespace
	if !strings.Contains(raw, "/") {
		namespace = defaultProviderNamespace
	}
	// Names are normalised as host names are, which removes characters that cannot be
	// seen: what is left of a name may be nothing, or no name.
	if again, err := regaddr.ParseProviderSource(namespace + "/" + found.Type); err != nil || again.Namespace != namespace || again.Type != found.Type {
		return Provider{}, &ParseError{What: what, Input: raw, Reason: "without its invisible characters it is not a name"}
	}
	return Provider{Hostname: host, Namespace: namespace, Type: found.Type}, nil
}
