package addrs

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"unique"
)

// ModulePackage is the physical location of a module package: a remote source address without its
// subdirectory, such as "git::https://example.com/net.git?ref=v1.2.0". The zero value is not a package.
// Values are equal (==) if their texts are. String returns the text with the user's credentials; package
// fmt and log/slog print [ModulePackage.Redacted], and MarshalText leaves them out.
type ModulePackage struct {
	// Addresses with the same text have the same handle.
	handle unique.Handle[hiddenParts]
}

// hiddenParts hides an address from package fmt, which prints unexported fields without calling methods.
// There are two handles because for some verbs it prints what the first pointer points to.
type hiddenParts struct{ handle unique.Handle[packageParts] }

// packageParts are the parts of an address, which is the concatenation of the first four: forced ends
// with "::", query begins with "?" and fragment with "#", unless they are "".
type packageParts struct {
	forced, location, query, fragment string
	// scheme is the scheme of the URL, in lower case; "" if the URL is malformed.
	scheme string
}

func (p ModulePackage) parts() packageParts {
	if p.IsZero() {
		return packageParts{}
	}
	return p.handle.Value().handle.Value()
}

// ParseModulePackage splits an address into its parts; [SplitSubdir] cuts off a subdirectory before. It
// accepts any text, as stock tools nearly do: [ModulePackage.Location] returns the error if it names no
// place.
func ParseModulePackage(address string) ModulePackage {
	if address == "" {
		return ModulePackage{}
	}
	var p packageParts
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
	return ModulePackage{unique.Make(hiddenParts{unique.Make(p)})}
}

func cutBefore(s, sep string) (before, rest string) {
	if i := strings.Index(s, sep); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

func (p ModulePackage) String() string {
	parts := p.parts()
	return parts.forced + parts.rest()
}

func (p packageParts) rest() string { return p.location + p.query + p.fragment }

// IsZero reports whether p is the zero value, which is not a package.
func (p ModulePackage) IsZero() bool { return p == ModulePackage{} }

// Equal is ==. Packages that compare deeply, such as go-cmp, call it.
func (p ModulePackage) Equal(other ModulePackage) bool { return p == other }

// Redacted returns the text of the address without its secrets; see [Redact].
func (p ModulePackage) Redacted() string { return Redact(p.String()) }

// Getter returns the name of the getter that fetches the package: the forced one, as written, or else the
// scheme in lower case; "" if there is neither. It need not be a known getter.
func (p ModulePackage) Getter() string {
	parts := p.parts()
	if parts.forced != "" {
		return strings.TrimSuffix(parts.forced, "::")
	}
	return parts.scheme
}

// Arg returns the unescaped value of the first argument of that name in the query, or its raw value if
// the escaping is malformed. It returns "" if the query has no such argument.
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

// Args returns the unescaped values of all arguments of that name. Malformed escaping is a *[ParseError].
func (p ModulePackage) Args(name string) ([]string, error) {
	var values []string
	for _, argument := range p.arguments() {
		key, value := splitArgument(argument)
		if key != name {
			continue
		}
		unescaped, err := url.QueryUnescape(value)
		if err != nil {
			return nil, &ParseError{What: "module package address", Input: Redact(p.String()), Reason: "its argument " + name + " has malformed escaping"}
		}
		values = append(values, unescaped)
	}
	return values, nil
}

// HasArg reports whether the query has an argument with the given name.
func (p ModulePackage) HasArg(name string) bool {
	return slices.ContainsFunc(p.arguments(), named(name))
}

// WithArg returns the address with the argument last in its query, and no other of the same name.
func (p ModulePackage) WithArg(name, value string) ModulePackage {
	return p.withQuery(append(p.Without(name).arguments(), url.QueryEscape(name)+"="+url.QueryEscape(value)))
}

// Without returns the address without the named arguments. The others stay as they are written.
func (p ModulePackage) Without(names ...string) ModulePackage {
	if !slices.ContainsFunc(names, p.HasArg) {
		return p
	}
	return p.withQuery(slices.DeleteFunc(p.arguments(), named(names...)))
}

// Repository returns the address without query and fragment: the place, but no revision.
func (p ModulePackage) Repository() ModulePackage {
	return ParseModulePackage(p.parts().forced + p.parts().location)
}

func (p ModulePackage) arguments() []string {
	query := strings.TrimPrefix(p.parts().query, "?")
	if query == "" {
		return nil
	}
	return strings.Split(query, "&")
}

func (p ModulePackage) withQuery(arguments []string) ModulePackage {
	parts := p.parts()
	return ParseModulePackage(parts.forced + parts.location + queryOf(arguments) + parts.fragment)
}

// queryOf returns "" for no arguments or only an empty one, because "?" by itself is not a query.
func queryOf(arguments []string) string {
	query := strings.Join(arguments, "&")
	if query == "" {
		return ""
	}
	return "?" + query
}

// splitArgument returns the name as net/url would, and the value as written.
func splitArgument(argument string) (name, value string) {
	name, value, _ = strings.Cut(argument, "=")
	if unescaped, err := url.QueryUnescape(name); err == nil {
		name = unescaped
	}
	return name, value
}

func named(names ...string) func(argument string) bool {
	return func(argument string) bool {
		name, _ := splitArgument(argument)
		return slices.Contains(names, name)
	}
}

// pinning describes how the addresses of one kind of source name a revision.
type pinning struct {
	// immutable is the argument that names immutable content; refs choose a revision, the strongest
	// first.
	immutable string
	refs      []string
	// isRevision reports whether a value of immutable can only be the full name of a revision.
	isRevision func(string) bool
}

var pinnings = map[string]pinning{
	"git": {"ref", []string{"ref"}, isObjectID},
	"hg":  {"rev", []string{"rev"}, func(s string) bool { return len(s) == 40 && isHex(s) }},
	"oci": {"digest", []string{"digest", "tag"}, func(string) bool { return true }},
}

// HasRevisions reports whether an address can name a revision: for git, Mercurial and OCI repositories.
func (p ModulePackage) HasRevisions() bool {
	_, ok := pinnings[p.Getter()]
	return ok
}

// Ref returns the name by which the address chooses a revision: a git ref, a Mercurial rev, or the digest
// or else the tag of an OCI artifact; "" leaves the choice to the origin. exact reports whether it is the
// full name of the revision itself, so that it cannot mean anything else later.
func (p ModulePackage) Ref() (name string, exact bool) {
	kind := pinnings[p.Getter()]
	for _, argument := range kind.refs {
		if name = p.Arg(argument); name != "" {
			return name, argument == kind.immutable && kind.isRevision(name)
		}
	}
	return "", false
}

// Revision returns the commit, changeset or digest in an immutable address, such as one in a lock. It
// returns "" for an address that names no revision. The form of the revision is not checked.
func (p ModulePackage) Revision() string {
	kind, ok := pinnings[p.Getter()]
	if !ok {
		return ""
	}
	return p.Arg(kind.immutable)
}

// Unpinned returns the address without the arguments for a revision and for the depth of the history.
func (p ModulePackage) Unpinned() ModulePackage {
	return p.Without("ref", "rev", "tag", "digest", "depth")
}

// isObjectID accepts the full name of a git object in lower case.
func isObjectID(s string) bool { return (len(s) == 40 || len(s) == 64) && isHex(s) }

func isHex(s string) bool { return strings.Trim(s, "0123456789abcdef") == "" }

// ReplaceArg sets the value of an argument in the query of a source address. Everything else stays as
// written, even in a shorthand. It reports whether the address has the argument exactly once.
func ReplaceArg(address, name, value string) (string, bool) {
	head, query, found := strings.Cut(address, "?")
	if !found {
		return "", false
	}
	query, fragment, hasFragment := strings.Cut(query, "#")
	arguments, replaced := strings.Split(query, "&"), 0
	for i, argument := range arguments {
		if found, _ := splitArgument(argument); found == name {
			written, was, _ := strings.Cut(argument, "=")
			escaped := strings.ReplaceAll(url.QueryEscape(value), "%2F", "/")
			for _, c := range []string{" ", "=", ">"} { // of constraints
				if strings.Contains(was, c) {
					escaped = strings.ReplaceAll(escaped, url.QueryEscape(c), c)
				}
			}
			arguments[i] = written + "=" + escaped
			replaced++
		}
	}
	if hasFragment {
		fragment = "#" + fragment
	}
	return head + "?" + strings.Join(arguments, "&") + fragment, replaced == 1
}
