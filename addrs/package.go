package addrs

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"
)

// ModulePackage is the physical location of a module package: everything of a
// remote source address but its subdir, for example
// "git::https://example.com/net.git?ref=v1.2.0". [ParseModulePackage] makes one;
// the zero value is no package.
//
// Values are comparable: two are equal if their texts are. The address may hold
// credentials that the user wrote; show it by [ModulePackage.Redacted] only.
type ModulePackage struct {
	// The address is the concatenation of these. forced ends with "::", query
	// begins with "?" and fragment with "#"; each is "" if the address has none.
	forced, location, query, fragment string
	// scheme is the URL's, in lower case; "" if the URL is malformed.
	scheme string
}

// ParseModulePackage takes the address of a package apart. Every text is an
// address, since stock tools accept nearly every one; [ModulePackage.URL] returns
// the error of an address whose URL is malformed. A subdir is not cut off:
// [SplitSubdir] does that.
func ParseModulePackage(address string) ModulePackage {
	var p ModulePackage
	forced, rest := cutForced(address)
	if forced != "" {
		p.forced = forced + "::"
	}
	if filepath.VolumeName(rest) != "" { // C:\dir, which stays as it is on Windows
		p.scheme = "file"
	} else if u, err := url.Parse(rest); err == nil {
		p.scheme = u.Scheme
	}
	rest, p.fragment = cutBefore(rest, "#")
	p.location, p.query = cutBefore(rest, "?")
	return p
}

// cutBefore cuts s before the first sep.
func cutBefore(s, sep string) (before, rest string) {
	if i := strings.Index(s, sep); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

// String returns the exact text of the address.
func (p ModulePackage) String() string { return p.forced + p.rest() }

// rest is the address without the forced getter.
func (p ModulePackage) rest() string { return p.location + p.query + p.fragment }

// IsZero reports whether p is the zero value, which is no package.
func (p ModulePackage) IsZero() bool { return p == ModulePackage{} }

// Equal reports whether both addresses have the same text, as == does. Packages
// that compare deeply, such as go-cmp, call it.
func (p ModulePackage) Equal(other ModulePackage) bool { return p == other }

// Redacted returns the text of the address without its secrets; see [Redact].
func (p ModulePackage) Redacted() string { return Redact(p.String()) }

// Getter names what fetches the package: the forced getter in front of "::", as
// it is written, or else the scheme of the URL in lower case. It is "" if there
// is neither. Any name is possible, not just known ones.
func (p ModulePackage) Getter() string {
	if p.forced != "" {
		return strings.TrimSuffix(p.forced, "::")
	}
	return p.scheme
}

// URL returns the part of the address behind the forced getter. The error, a
// *[ParseError], does not give the reason, which might quote a secret.
func (p ModulePackage) URL() (*url.URL, error) {
	rest := p.rest()
	if filepath.VolumeName(rest) != "" {
		return &url.URL{Scheme: "file", Path: "/" + filepath.ToSlash(rest)}, nil
	}
	u, err := url.Parse(rest)
	if err != nil {
		return nil, &ParseError{What: "module package address", Input: p.String(), Reason: "its URL is malformed"}
	}
	return u, nil
}

// Arg returns the value of the first argument with that name in the address's
// query, unescaped. It returns an empty string if the query has no such argument, and
// the raw value if its escaping is malformed.
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

// Args returns the values of all arguments with that name, in their order and
// unescaped. If the escaping of one is malformed, the error is a *[ParseError].
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

// HasArg reports whether the address's query has an argument with that name.
func (p ModulePackage) HasArg(name string) bool {
	return slices.ContainsFunc(p.arguments(), named(name))
}

// WithArg returns the address with that argument at the end of its query, and
// without any other one of that name.
func (p ModulePackage) WithArg(name, value string) ModulePackage {
	return p.withQuery(append(p.Without(name).arguments(), url.QueryEscape(name)+"="+url.QueryEscape(value)))
}

// Without returns the address without the arguments of these names. The others
// stay as they are written.
func (p ModulePackage) Without(names ...string) ModulePackage {
	if !slices.ContainsFunc(names, p.HasArg) {
		return p
	}
	return p.withQuery(slices.DeleteFunc(p.arguments(), named(names...)))
}

// Repository returns the address without its query and its fragment: the place
// alone, whichever revision of it is meant.
func (p ModulePackage) Repository() ModulePackage {
	return ParseModulePackage(p.forced + p.location)
}

// arguments returns the arguments of the query as they are written.
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

// queryOf joins arguments into a query with its "?". It returns an empty string for no
// arguments, and also for a single empty one, because "?" alone is not a query.
func queryOf(arguments []string) string {
	query := strings.Join(arguments, "&")
	if query == "" {
		return ""
	}
	return "?" + query
}

// splitArgument returns the name of an argument, unescaped, and its value as it
// is written. The name is the one that net/url would return.
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
