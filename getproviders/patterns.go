package getproviders

import (
	"cmp"
	"strings"

	"github.com/cotterpin/cotter/addrs"
)

// wildcard matches any host, namespace or type in a [Pattern].
const wildcard = "*"

// Pattern matches the addresses of providers. It is comparable. The zero value matches no
// provider.
type Pattern struct{ host, namespace, typ string }

// ParsePattern parses [HOST/]NAMESPACE/TYPE. The type can be "*". Only then the namespace can be
// "*" too, and only then the host. A pattern with two parts has the default host, as in the
// source of a provider: "acme/*" does not match "example.com/acme/x". If defaultHost is "", it is
// OpenTofu's. The error is an *[addrs.ParseError].
func ParsePattern(s string, defaultHost addrs.Hostname) (Pattern, error) {
	fault := func(reason string) (Pattern, error) {
		return Pattern{}, &addrs.ParseError{What: "provider pattern", Input: s, Reason: reason}
	}
	parts := strings.Split(s, "/")
	p := Pattern{host: string(cmp.Or(defaultHost, addrs.DefaultRegistryHost))}
	switch len(parts) {
	case 2:
	case 3:
		p.host = parts[0]
		if p.host != wildcard {
			host, err := addrs.ParseHostname(p.host)
			if err != nil {
				return fault(err.Error())
			}
			p.host = string(host)
		}
		parts = parts[1:]
	default:
		return fault("it must have two or three parts, [HOST/]NAMESPACE/TYPE")
	}
	p.namespace, p.typ = parts[0], parts[1]
	for _, name := range []*string{&p.namespace, &p.typ} {
		if *name == wildcard {
			continue
		}
		normal, ok := normalName(*name)
		if !ok {
			return fault("the names of a namespace and a type are letters, digits and dashes, or a single *")
		}
		*name = normal
	}
	switch {
	case p.namespace == wildcard && p.typ != wildcard:
		return fault("the namespace can only be * if the type is")
	case p.host == wildcard && p.namespace != wildcard:
		return fault("the host can only be * if the namespace and the type are")
	}
	return p, nil
}

// ExactPattern returns the pattern that matches one provider.
func ExactPattern(provider addrs.Provider) Pattern {
	return Pattern{string(provider.Hostname), provider.Namespace, provider.Type}
}

// normalName returns the form that a namespace or a type has in addresses. It uses the parser for
// namespaces, because that also accepts names that are refused as types because of their prefix,
// such as "terraform-x".
func normalName(name string) (string, bool) {
	if name == "-" || strings.Contains(name, "/") {
		return "", false
	}
	found, err := addrs.ParseProviderSource(name + "/x")
	return found.Namespace, err == nil
}

// Matches reports whether the pattern matches a provider.
func (p Pattern) Matches(provider addrs.Provider) bool {
	return (p.host == wildcard || p.host == string(provider.Hostname)) &&
		(p.namespace == wildcard || p.namespace == provider.Namespace) &&
		(p.typ == wildcard || p.typ == provider.Type)
}

// Fixed returns the parts of the pattern that are not "*". It returns "" for the other parts.
func (p Pattern) Fixed() (host addrs.Hostname, namespace, typ string) {
	fixed := func(part string) string {
		if part == wildcard {
			return ""
		}
		return part
	}
	return addrs.Hostname(fixed(p.host)), fixed(p.namespace), fixed(p.typ)
}

// String returns the pattern with its host, in the form that [ParsePattern] accepts.
func (p Pattern) String() string {
	host := p.host
	if host != wildcard && host != "" {
		host = addrs.Hostname(host).ForDisplay()
	}
	return host + "/" + p.namespace + "/" + p.typ
}
