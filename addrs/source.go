package addrs

import (
	"errors"
	"path"
	"slices"
	"strings"
)

// ModuleSource is the source address of a module call: a [ModuleSourceLocal],
// [ModuleSourceRegistry] or [ModuleSourceRemote]. There are no other implementations, so a
// type switch over these three is exhaustive.
//
// Every value that [ParseModuleSource] returns is in normal form, and comparable with ==.
type ModuleSource interface {
	// String returns the full form, always with the registry host, as stock tools
	// write it to modules.json. It can contain credentials.
	String() string
	// ForDisplay returns a short form without secrets, for messages.
	ForDisplay() string
	// MarshalText returns the form for programs that store it, as the methods of the kinds of sources say.
	MarshalText() (text []byte, err error)

	moduleSource() // closed
}

func (ModuleSourceLocal) moduleSource()    {}
func (ModuleSourceRegistry) moduleSource() {}
func (ModuleSourceRemote) moduleSource()   {}

// Parser parses module and provider source addresses in one dialect. The zero value uses
// the dialect of OpenTofu.
type Parser struct {
	// DefaultRegistryHost is the registry of addresses without a host. Empty means
	// [DefaultRegistryHost].
	DefaultRegistryHost Hostname
}

// ParseModuleSource parses the source argument of a module call that has no
// version argument, with the default registry of OpenTofu. See
// [Parser.ParseModuleSource].
func ParseModuleSource(raw string) (ModuleSource, error) {
	return Parser{}.ParseModuleSource(raw)
}

// ParseModuleSource parses the source argument of a module call that has no version
// argument. The package comment lists the kinds of address in the order in which they are
// tried. Spaces around the address are not removed. The error is a *[ParseError].
func (p Parser) ParseModuleSource(raw string) (ModuleSource, error) {
	if isLocal(raw) {
		return parseLocal(raw), nil
	}
	// An address that is not a registry address is parsed as a remote one, so the error of
	// the registry grammar is dropped.
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

// ParseModuleSourceRegistry parses the source argument of a module call that
// has a version argument, with the default registry of OpenTofu. See
// [Parser.ParseModuleSourceRegistry].
func ParseModuleSourceRegistry(raw string) (ModuleSourceRegistry, error) {
	return Parser{}.ParseModuleSourceRegistry(raw)
}

// ParseModuleSourceRegistry parses the source argument of a module call that has a
// version argument, which must be a registry address. It accepts the same registry
// addresses as [Parser.ParseModuleSource], and returns specific errors for them. The
// error is a *[ParseError].
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

// ModuleSourceLocal is a path relative to the calling module's directory, in normal form:
// with forward slashes, beginning with "./" or "../".
//
// The normal form of the directory itself is "./.", and that of its parent is "./..",
// because stock tools write them in this way.
type ModuleSourceLocal string

// String returns the path.
func (s ModuleSourceLocal) String() string { return string(s) }

// ForDisplay returns the path.
func (s ModuleSourceLocal) ForDisplay() string { return string(s) }

// Within returns the subdirectory of s in the package of the calling module, given the
// calling module's subdirectory. The result is the cleaned join of both; "." is the
// package's root. If the path leaves the package, the error is a *[ParseError] that wraps
// [ErrOutsidePackage]. Only the text is checked; callers must check links.
func (s ModuleSourceLocal) Within(subdir string) (string, error) {
	return JoinSubdir(subdir, string(s))
}

// isLocal reports whether raw is a local path. It accepts backslashes on every
// system, because configuration is portable.
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

// ModuleSourceRemote is a module in a package at a physical location. Subdir is a clean
// relative path; "" is the package's root. Percent escapes in Subdir are not decoded.
type ModuleSourceRemote struct {
	Package ModulePackage
	Subdir  string
}

// IsZero reports whether s is the zero value, which is no address.
func (s ModuleSourceRemote) IsZero() bool { return s == ModuleSourceRemote{} }

// String returns the package with the subdirectory inserted before its query string. It can
// contain credentials.
func (s ModuleSourceRemote) String() string {
	return withSubdir(s.Package.String(), s.Subdir)
}

// ForDisplay returns String, redacted by [Redact].
func (s ModuleSourceRemote) ForDisplay() string { return Redact(s.String()) }

// ParseModuleSourceRemote parses the address of a package that is not in a registry, with a
// directory in it: "git::https://example.com/net.git//vpc?ref=v1.2.0", "github.com/acme/net". It
// recognizes the short forms that stock tools accept. It accepts nearly every text with a colon, but
// no local path, and no registry address, which [ParseModuleSource] would recognize first. The error
// is a *[ParseError].
func ParseModuleSourceRemote(raw string) (ModuleSourceRemote, error) {
	given, subdir := splitCleanSubdir(raw)
	// A "../" that the user wrote is refused even if the subdirectory stays in the package
	// once it is joined to a detected one. A lone ".." is not refused here; the joined
	// subdirectory is checked below.
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

// SplitSubdir splits an address at the "//" between a package and a directory in it. It
// returns both parts as written: subdir is not cleaned, and may be outside of the package.
// If the address has no directory, subdir is empty.
//
// The "//" of the first "://" and any "//" in the query string are not separators. The
// query string belongs to the package. A fragment is not special.
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

// escapes reports whether a cleaned subdirectory is outside of its package. Stock tools
// check only the first of these conditions. A subdirectory that begins with a slash is below the
// package, and so is everything that it points to, as with stock tools.
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
