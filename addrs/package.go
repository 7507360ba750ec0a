package addrs

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/hostname"
)

// ModulePackage is the physical location of a module package: a remote source address
// without its subdirectory, for example "git::https://example.com/net.git?ref=v1.2.0".
// [ParseModulePackage] returns one; the zero value is not a package.
//
// Values are comparable: two values are equal if their texts are equal. The address may
// contain credentials that the user wrote, so use [ModulePackage.Redacted] to display it.
type ModulePackage struct {
	// The address is the concatenation of these fields. forced ends with "::", query begins
	// with "?" and fragment with "#"; each is "" if the address does not have it.
	forced, location, query, fragment string
	// scheme is the scheme of the URL, in lower case; "" if the URL is malformed.
	scheme string
}

// ParseModulePackage splits the address of a package into its parts. It accepts any text,
// because stock tools accept nearly any address. If the URL is malformed,
// [ModulePackage.URL] returns the error. A subdirectory is not cut off; [SplitSubdir] does
// that.
func ParseModulePackage(address string) ModulePackage {
	var p ModulePackage
	forced, rest := cutForced(address)
	if forced != "" {
		p.forced = forced + "::"
	}
	if filepath.VolumeName(rest) != "" { // C:\dir, which is not changed on Windows
		p.scheme = "file"
	} else if u, err := url.Parse(rest); err == nil {
		p.scheme = u.Scheme
	}
	rest, p.fragment = cutBefore(rest, "#")
	p.location, p.query = cutBefore(rest, "?")
	return p
}

// cutBefore splits s before the first sep.
func cutBefore(s, sep string) (before, rest string) {
	if i := strings.Index(s, sep); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

// String returns the exact text of the address.
func (p ModulePackage) String() string { return p.forced + p.rest() }

// rest returns the address without the forced getter.
func (p ModulePackage) rest() string { return p.location + p.query + p.fragment }

// IsZero reports whether p is the zero value, which is not a package.
func (p ModulePackage) IsZero() bool { return p == ModulePackage{} }

// Equal reports whether both addresses have the same text, like ==. Packages that compare
// deeply, such as go-cmp, call it.
func (p ModulePackage) Equal(other ModulePackage) bool { return p == other }

// Redacted returns the text of the address without its secrets; see [Redact].
func (p ModulePackage) Redacted() string { return Redact(p.String()) }

// Getter returns the name of the getter that fetches the package: the forced getter in
// front of "::", as written, or else the scheme of the URL in lower case. It is "" if there
// is neither. The name need not be that of a known getter.
func (p ModulePackage) Getter() string {
	if p.forced != "" {
		return strings.TrimSuffix(p.forced, "::")
	}
	return p.scheme
}

// URL returns the part of the address after the forced getter. If its host is a number that
// is not written as an address, such as "127.1", the URL has the address, 127.0.0.1, because
// clients and resolvers differ in what they read the number as. The error is a *[ParseError].
// It does not give the reason, because that might quote a secret.
func (p ModulePackage) URL() (*url.URL, error) {
	rest := p.rest()
	if filepath.VolumeName(rest) != "" {
		return &url.URL{Scheme: "file", Path: "/" + filepath.ToSlash(rest)}, nil
	}
	u, err := url.Parse(rest)
	if err != nil {
		return nil, &ParseError{What: "module package address", Input: p.String(), Reason: "its URL is malformed"}
	}
	hostname.NormalizeURL(u)
	return u, nil
}

// Arg returns the unescaped value of the first argument with the given name in the query.
// It returns an empty string if the query has no such argument, and the raw value if its
// escaping is malformed.
func (p ModulePackage) Arg(name string) string {
	for _, argument := range p.arguments() {
		if key, value := splitArgument(argument); key == name {
			if unescaped, err := url.QueryUnescape(value); err == nil {
				return unescaped
			}
			return value
		}
	}
	return ""
}

// Args returns the unescaped values of all arguments with the given name, in the order of
// the query. If a value has malformed escaping, the error is a *[ParseError].
func (p ModulePackage) Args(name string) ([]string, error) {
	var values []string
	for _, argument := range p.arguments() {
		key, value := splitArgument(argument)
		if key != name {
			continue
		}
		unescaped, err := url.QueryUnescape(value)
		if err != nil {
			return nil, &ParseError{What: "module package address", Input: p.String(), Reason: "its argument " + name + " has malformed escaping"}
		}
		values = append(values, unescaped)
	}
	return values, nil
}

// HasArg reports whether the query has an argument with the given name.
func (p ModulePackage) HasArg(name string) bool {
	return slices.ContainsFunc(p.arguments(), named(name))
}

// WithArg returns the address with the argument at the end of its query, and without any
// other argument of the same name.
func (p ModulePackage) WithArg(name, value string) ModulePackage {
	return p.withQuery(append(p.Without(name).arguments(), url.QueryEscape(name)+"="+url.QueryEscape(value)))
}

// Without returns the address without the arguments with the given names. The others stay
// as they are written.
func (p ModulePackage) Without(names ...string) ModulePackage {
	if !slices.ContainsFunc(names, p.HasArg) {
		return p
	}
	return p.withQuery(slices.DeleteFunc(p.arguments(), named(names...)))
}

// Repository returns the address without its query and its fragment. It names the place,
// but no revision.
func (p ModulePackage) Repository() ModulePackage {
	return ParseModulePackage(p.forced + p.location)
}

// arguments returns the arguments of the query as written.
func (p ModulePackage) arguments() []string {
	query := strings.TrimPrefix(p.query, "?")
	if query == "" {
		return nil
	}
	return strings.Split(query, "&")
}

func (p ModulePackage) withQuery(arguments []string) ModulePackage {
	return ParseModulePackage(p.forced + p.location + queryOf(arguments) + p.fragment)
}

// queryOf joins arguments to a query with its "?". It returns an empty string if there are
// no arguments, or only an empty one, because "?" by itself is not a query.
func queryOf(arguments []string) string {
	query := strings.Join(arguments, "&")
	if query == "" {
		return ""
	}
	return "?" + query
}

// splitArgument returns the unescaped name of an argument, and its value as written. The
// name is the one that net/url would return.
func splitArgument(argument string) (name, value string) {
	name, value, _ = strings.Cut(argument, "=")
	if unescaped, err := url.QueryUnescape(name); err == nil {
		name = unescaped
	}
	return name, value
}

// named returns a function that reports whether an argument has one of the names.
func named(names ...string) func(argument string) bool {
	return func(argument string) bool {
		name, _ := splitArgument(argument)
		return slices.Contains(names, name)
	}
}
