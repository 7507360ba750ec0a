package addrs

import (
	"path"
	"strings"
)

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
	for _, prefix := range [...]string{"./", "../", `.\`, `..\`} {
		if strings.HasPrefix(raw, prefix) {
			return true
		}
	}
	return false
}

func parseLocal(raw string) ModuleSourceLocal {
	clean := path.Clean(strings.ReplaceAll(raw, `\`, "/"))
	if !strings.HasPrefix(clean, "../") {
		// This also applies to "." and "..": see the type's documentation.
		clean = "./" + clean
	}
	return ModuleSourceLocal(clean)
}
