package addrs

import (
	"errors"
	"path"
	"slices"
	"strings"
)

// ModuleSource is the source address of a module call: a [ModuleSourceLocal], [ModuleSourceRegistry] or
// [ModuleSourceRemote], and nothing else. Values of [ParseModuleSource] are in normal form, and
// comparable with ==.
type ModuleSource interface {
	// String returns the full form, with the registry host, as in modules.json. It can contain
	// credentials.
	String() string
	// ForDisplay returns a short form without secrets, for messages.
	ForDisplay() string
	// MarshalText returns the form for programs that store it.
	MarshalText() (text []byte, err error)

	moduleSource() // closed
}

func (ModuleSourceLocal) moduleSource()    {}
func (ModuleSourceRegistry) moduleSource() {}
func (ModuleSourceRemote) moduleSource()   {}

// Parser parses source addresses in one dialect. The zero value uses the dialect of OpenTofu.
type Parser struct {
	// DefaultRegistryHost is the registry of addresses without a host; "" means [DefaultRegistryHost].
	DefaultRegistryHost Hostname
}

// ParseModuleSource is [Parser.ParseModuleSource] with the default registry of OpenTofu.
func ParseModuleSource(raw string) (ModuleSource, error) {
	return Parser{}.ParseModuleSource(raw)
}

// ParseModuleSource parses the source of a module call without a version argument. It tries the kinds of
// address in the order of the package comment. Spaces around it stay. The error is a *[ParseError].
func (p Parser) ParseModuleSource(raw string) (ModuleSource, error) {
	if isLocal(raw) {
		return parseLocal(raw), nil
	}
	// An address that is not a registry address is parsed as a remote one, so this error is dropped.
	if found, err := p.readRegistry(raw); err == nil {
		if err := found.check(raw); err != nil {
			return nil, err
		}
		return found, nil
	}
	found, err := ParseModuleSourceRemote(raw)
	if err != nil {
		return nil, err
	}
	return found, nil
}

// ParseModuleSourceRegistry is [Parser.ParseModuleSourceRegistry] with the default registry of OpenTofu.
func ParseModuleSourceRegistry(raw string) (ModuleSourceRegistry, error) {
	return Parser{}.ParseModuleSourceRegistry(raw)
}

// ParseModuleSourceRegistry parses the source of a module call with a version argument, which must be a
// registry address. The error is a *[ParseError].
func (p Parser) ParseModuleSourceRegistry(raw string) (ModuleSourceRegistry, error) {
	if reason := notRegistry(raw); reason != "" {
		return ModuleSourceRegistry{}, registryError(raw, reason, nil)
	}
	found, err := p.readRegistry(raw)
	if err != nil {
		return ModuleSourceRegistry{}, registryError(raw, err.Error(), err)
	}
	if err := found.check(raw); err != nil {
		return ModuleSourceRegistry{}, err
	}
	return found, nil
}

// ModuleSourceLocal is a path relative to the calling module's directory, in the normal form of stock
// tools: with forward slashes, beginning with "./" or "../". The directory itself is "./.", and its
// parent "./..".
type ModuleSourceLocal string

func (s ModuleSourceLocal) String() string { return string(s) }

// ForDisplay returns the path.
func (s ModuleSourceLocal) ForDisplay() string { return string(s) }

// Within returns the cleaned join of the calling module's subdirectory and s; "." is the package's root.
// If it leaves the package, the error is a *[ParseError] that wraps [ErrOutsidePackage]. Links are not
// checked.
func (s ModuleSourceLocal) Within(subdir string) (string, error) {
	return JoinSubdir(subdir, string(s))
}

// isLocal accepts backslashes on every system, because configuration is portable.
func isLocal(raw string) bool {
	return slices.ContainsFunc([]string{"./", "../", `.\`, `..\`}, func(prefix string) bool { return strings.HasPrefix(raw, prefix) })
}

func parseLocal(raw string) ModuleSourceLocal {
	clean := path.Clean(strings.ReplaceAll(raw, `\`, "/"))
	if !strings.HasPrefix(clean, "../") {
		// This also applies to "." and "..": see the type's documentation.
		clean = "./" + clean
	}
	return ModuleSourceLocal(clean)
}

// ModuleSourceRemote is a module in a package at a physical location. Subdir is a clean relative path
// with its percent escapes; "" is the package's root.
type ModuleSourceRemote struct {
	Package ModulePackage
	Subdir  string
}

// IsZero reports whether s is the zero value, which is no address.
func (s ModuleSourceRemote) IsZero() bool { return s == ModuleSourceRemote{} }

// String inserts the subdirectory before the query string. The result can contain credentials.
func (s ModuleSourceRemote) String() string {
	return withSubdir(s.Package.String(), s.Subdir)
}

// ForDisplay returns String, redacted by [Redact].
func (s ModuleSourceRemote) ForDisplay() string { return Redact(s.String()) }

// ParseModuleSourceRemote parses the address of a package that is not in a registry, with a directory in
// it, such as "git::https://example.com/net.git//vpc?ref=v1.2.0", or a short form, such as
// "github.com/acme/net". It accepts nearly every text with a colon, but no local path and no registry
// address. The error is a *[ParseError].
func ParseModuleSourceRemote(raw string) (ModuleSourceRemote, error) {
	given, subdir := splitCleanSubdir(raw)
	// "../" is refused even if the joined subdirectory stays in the package; ".." only if that leaves it.
	if strings.HasPrefix(subdir, "../") {
		return ModuleSourceRemote{}, outsidePackage(raw)
	}
	detected, err := detect(given)
	if err != nil {
		return ModuleSourceRemote{}, &ParseError{
			Input:      Redact(raw),
			Reason:     err.Error(),
			MaybeLocal: errors.Is(err, errUnrecognized),
		}
	}
	pkg, own := splitCleanSubdir(detected)
	if own != "" {
		subdir = path.Join(own, subdir)
	}
	if escapes(subdir) {
		return ModuleSourceRemote{}, outsidePackage(raw)
	}
	found := ModuleSourceRemote{Package: ParseModulePackage(pkg), Subdir: subdir}
	if _, reason := found.Package.locate(); reason != "" && reason != malformedURL {
		return ModuleSourceRemote{}, &ParseError{Input: Redact(raw), Reason: reason}
	}
	return found, nil
}

// SplitSubdir splits an address at the "//" between a package and a directory in it. The directory is
// neither cleaned nor checked, and is "" if the address names only a package. The "//" of the first "://" and
// any in the query string, which belongs to the package, are not separators. A fragment is not special.
func SplitSubdir(addr string) (pkg, subdir string) {
	text, query := addr, ""
	if i := strings.IndexByte(addr, '?'); i >= 0 {
		text, query = addr[:i], addr[i:]
	}
	start := 0
	if i := strings.Index(text, "://"); i >= 0 {
		start = i + len("://")
	}
	i := strings.Index(text[start:], "//")
	if i < 0 {
		return addr, ""
	}
	end := start + i
	return text[:end] + query, text[end+len("//"):]
}

// JoinSubdir joins and cleans two subdirectories of a package. inner is relative to outer,
// even if it begins with a slash. "" is the root. If the result leaves the package, the
// error is a *[ParseError] that wraps [ErrOutsidePackage].
func JoinSubdir(outer, inner string) (string, error) {
	if outer == "" && inner == "" {
		return "", nil
	}
	joined := strings.TrimLeft(path.Join(outer, inner), "/")
	if escapes(joined) {
		return "", &ParseError{What: "subdirectory", Input: Redact(joined), Reason: ErrOutsidePackage.Error(), Err: ErrOutsidePackage}
	}
	return joined, nil
}

// splitCleanSubdir is SplitSubdir with a cleaned subdirectory. A "." is kept.
func splitCleanSubdir(addr string) (pkg, subdir string) {
	pkg, subdir = SplitSubdir(addr)
	if subdir != "" {
		subdir = path.Clean(subdir)
	}
	return pkg, subdir
}

// escapes reports whether a cleaned subdirectory leaves its package; stock tools check only the first
// condition. A subdirectory that begins with a slash is below the package, as for stock tools.
func escapes(subdir string) bool {
	return strings.HasPrefix(subdir, "../") || subdir == ".."
}

// outsidePackage does not include the subdirectory in the reason: the text after a "//" may
// be part of a URL that contains a secret.
func outsidePackage(raw string) *ParseError {
	return &ParseError{
		Input:  Redact(raw),
		Reason: "the subdirectory " + ErrOutsidePackage.Error(),
		Err:    ErrOutsidePackage,
	}
}

// withSubdir puts a subdirectory back where [SplitSubdir] took it from.
func withSubdir(pkg, subdir string) string {
	if subdir == "" {
		return pkg
	}
	text, query, hasQuery := strings.Cut(pkg, "?")
	if !hasQuery {
		return pkg + "//" + subdir
	}
	return text + "//" + subdir + "?" + query
}
