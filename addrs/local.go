package addrs

import (
	"path"
	"strings"
)

// ModuleSourceLocal is a path relative to the calling module's directory, in
// normal form: forward slashes, beginning with "./" or "../".
//
// The normal form of a directory itself is "./.", and that of its parent is
// "./..", because stock tools record them so.
type ModuleSourceLocal string

// String is the path.
func (s ModuleSourceLocal) String() string { return string(s) }

// ForDisplay is the path too.
func (s ModuleSourceLocal) ForDisplay() string { return string(s) }

// Within is the subdirectory, in the package of the calling module, that s
// leads to, where subdir is the one of the calling module: the cleaned join
// of both, "." for the package's root. A path that leaves the package is a
// *[ParseError] that wraps [ErrOutsidePackage]. The path is compared as text;
// whether a link leads out is for the caller to find.
func (s ModuleSourceLocal) Within(subdir string) (string, error) {
	return JoinSubdir(subdir, string(s))
}

// isLocal accepts backslashes on every system, as the paths are of the
// configuration and not of the machine.
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
		// Also in front of "." and "..": see the type's documentation.
		clean = "./" + clean
	}
	return ModuleSourceLocal(clean)
}
