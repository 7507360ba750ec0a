package addrs

import (
	"errors"
	"path"
	"strings"
)

// ModuleSourceRemote is a module inside a package at a physical location.
// Subdir is a clean relative path, "" for the package's root. Percent escapes
// in it are not decoded.
type ModuleSourceRemote struct {
	Package ModulePackage
	Subdir  string
}

// String is the package with the subdirectory before its query string. It may
// hold credentials.
func (s ModuleSourceRemote) String() string {
	return withSubdir(s.Package.String(), s.Subdir)
}

// ForDisplay is String, redacted as by [Redact].
func (s ModuleSourceRemote) ForDisplay() string { return Redact(s.String()) }

// parseRemote accepts whatever a stock tool takes for a remote address, which
// is nearly everything with a colon in it.
func parseRemote(raw string) (ModuleSourceRemote, error) {
	given, subdir := splitCleanSubdir(raw)
	// Before anything is put in front of it: a "../" that the user wrote is
	// refused even if a detected subdirectory could make up for it. A lone
	// ".." is not, hence the second look at the joined one.
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
