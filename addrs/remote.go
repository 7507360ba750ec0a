package addrs

import (
	"errors"
	"path"
	"strings"
)

// ModuleSourceRemote is a module in a package at a physical location. Subdir is a clean
// relative path; "" is the package's root. Percent escapes in Subdir are not decoded.
type ModuleSourceRemote struct {
	Package ModulePackage
	Subdir  string
}

// String returns the package with the subdirectory inserted before its query string. It can
// contain credentials.
func (s ModuleSourceRemote) String() string {
	return withSubdir(s.Package.String(), s.Subdir)
}

// ForDisplay returns String, redacted by [Redact].
func (s ModuleSourceRemote) ForDisplay() string { return Redact(s.String()) }

// parseRemote accepts every address that stock tools parse as remote, which is nearly every
// text with a colon.
func parseRemote(raw string) (ModuleSourceRemote, error) {
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
			Input:      raw,
			Reason:     err.Error(),
			MaybeLocal: errors.Is(err, errUnrecognised),
		}
	}
	pkg, own := splitCleanSubdir(detected)
	if own != "" {
		subdir = path.Join(own, subdir)
	}
	if escapes(subdir) {
		return ModuleSourceRemote{}, outsidePackage(raw)
	}
	return ModuleSourceRemote{Package: ParseModulePackage(pkg), Subdir: subdir}, nil
}
