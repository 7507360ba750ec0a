package pathsafe

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ErrUnsafeEntry says that an entry of a package is refused, for example because of its name.
var ErrUnsafeEntry = errors.New("the package holds an entry that is refused")

const (
	// MaxPath limits written paths and link targets, in bytes. It leaves room for the project's directory
	// within PATH_MAX.
	MaxPath = 1024
	// MaxReadPath limits those that are read. Linux cannot open longer paths.
	MaxReadPath = 4096
	// maxComponent is that of common file systems, in bytes.
	maxComponent = 255
	// maxDepth limits the directories that are open at once, and the recursion of readers.
	maxDepth = 64
)

// ReadText returns why what is read cannot be a path in a tree or the target of a link in it, or "".
func ReadText(s string) string {
	if len(s) > MaxReadPath {
		return fmt.Sprintf("is longer than %d bytes", MaxReadPath)
	}
	return text(s)
}

func text(s string) string {
	switch {
	case strings.IndexByte(s, '\n') >= 0:
		return "holds a newline, which ends a name in the h1 hash"
	case strings.IndexByte(s, 0) >= 0:
		return "holds a NUL byte, which no system stores"
	}
	return ""
}

// Name returns why no system may write an entry with this path in the tree of a module package, or "". All other
// names are taken by their bytes. The entry can still clash with another one, and a system may be unable to
// store it ([Unportable]).
func Name(path string) string {
	if len(path) > MaxPath {
		return fmt.Sprintf("is longer than %d bytes", MaxPath)
	}
	if reason := text(path); reason != "" {
		return reason
	}
	depth := 0
	for component := range strings.SplitSeq(path, "/") {
		if reason := componentFault(component); reason != "" {
			return reason
		}
		depth++
	}
	if depth > maxDepth {
		return fmt.Sprintf("is deeper than %d directories", maxDepth)
	}
	return ""
}

// componentFault takes backslashes for separators as well, as Windows does.
func componentFault(component string) string {
	if len(component) > maxComponent {
		return fmt.Sprintf("has a component of more than %d bytes", maxComponent)
	}
	for part := range strings.SplitSeq(component, `\`) {
		switch {
		case part == "":
			return "is absolute, or has an empty component"
		case part == "." || part == "..":
			return fmt.Sprintf("has a %q component", part)
		case IsVersionControl(part):
			return "is that of version control metadata"
		}
	}
	return ""
}

// ProviderName is [Name] for the package of a provider, in which a path is also shown as what it is and has no
// backslashes.
func ProviderName(path string) string {
	if reason := notShown(path); reason != "" {
		return reason
	}
	if strings.Contains(path, `\`) {
		return backslash
	}
	return Name(path)
}

const backslash = "holds a backslash, which is a separator on Windows"

// notShown returns why a text is not shown as what it is, or "".
func notShown(s string) string {
	if !utf8.ValidString(s) {
		return "is not valid UTF-8"
	}
	for _, r := range s {
		switch {
		case unicode.IsControl(r):
			return fmt.Sprintf("holds the control character %U", r)
		case isDeceptive(r):
			return fmt.Sprintf("holds %U, which changes how the text around it is shown", r)
		}
	}
	return ""
}

// isDeceptive recognizes bidi controls (Unicode's Bidi_Control), line and paragraph separators, and byte order marks.
func isDeceptive(r rune) bool {
	switch {
	case r == 0x061c, r == 0x200e, r == 0x200f:
		return true
	case 0x2028 <= r && r <= 0x202e, 0x2066 <= r && r <= 0x2069:
		return true
	}
	return r == 0xfeff
}

// metadata are those of git, Mercurial, Subversion and Bazaar. In submodules and worktrees, .git is a file.
var metadata = []string{".git", ".hg", ".svn", ".bzr"}

// IsMetadata reports whether a component is the name of version control metadata.
func IsMetadata(component string) bool { return slices.Contains(metadata, component) }

// IsVersionControl reports whether some file system would take a component for version control metadata,
// whose hooks and configuration are run with the user's rights as soon as a tool looks at them. It covers
// the spellings of git's own check: any case, trailing dots and spaces, NTFS streams
// (".git::$INDEX_ALLOCATION") and short names ("git~1"), and the code points that HFS+ ignores.
func IsVersionControl(component string) bool {
	name := strings.Map(withoutIgnorable, component)
	name, _, _ = strings.Cut(name, ":")
	name = strings.TrimRight(name, ". ")
	return slices.ContainsFunc(metadata, func(m string) bool {
		return strings.EqualFold(name, m) || strings.EqualFold(name, m[1:]+"~1")
	})
}

// VersionControlPart returns the first component that [IsVersionControl] recognizes, or "". Slashes and
// backslashes separate components on every system.
func VersionControlPart(path string) string {
	for component := range strings.FieldsFuncSeq(path, func(r rune) bool { return r == '/' || r == '\\' }) {
		if IsVersionControl(component) {
			return component
		}
	}
	return ""
}

// withoutIgnorable removes the code points that HFS+ ignores, for strings.Map.
func withoutIgnorable(r rune) rune {
	switch {
	case 0x200c <= r && r <= 0x200f, 0x202a <= r && r <= 0x202e, 0x206a <= r && r <= 0x206f, r == 0xfeff:
		return -1
	}
	return r
}

// Unportable returns why Windows cannot store a component, or "". macOS cannot store one that is not UTF-8.
func Unportable(component string) string {
	if i := strings.IndexFunc(component, func(r rune) bool { return r < ' ' }); i >= 0 {
		return fmt.Sprintf("holds the control character %U, which Windows does not allow", component[i])
	}
	switch {
	case !utf8.ValidString(component):
		return "is not valid UTF-8, which Windows and macOS do not allow"
	case strings.Contains(component, `\`):
		return backslash
	case strings.ContainsAny(component, `<>:"|?*`):
		return `holds one of <>:"|?*, which Windows does not allow`
	case strings.HasSuffix(component, ".") || strings.HasSuffix(component, " "):
		return "ends in a dot or a space, which Windows drops"
	case isReserved(component):
		return "is that of a device on Windows"
	}
	return ""
}

// Unusual is [Unportable], or else returns why a component is not shown as what it is. Such a name is written
// with a warning.
func Unusual(component string) (reason string, portable bool) {
	if reason = Unportable(component); reason != "" {
		return reason, false
	}
	return notShown(component), true
}

// isReserved reports whether Windows takes a component for a device. The part before the first dot counts,
// without trailing spaces.
func isReserved(component string) bool {
	base, _, _ := strings.Cut(component, ".")
	base = strings.ToUpper(strings.TrimRight(base, " "))
	switch base {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	if !strings.HasPrefix(base, "COM") && !strings.HasPrefix(base, "LPT") {
		return false
	}
	digit := []rune(base[len("COM"):])
	return len(digit) == 1 && strings.ContainsRune("0123456789¹²³", digit[0])
}

// Within reports whether name is dir or below it. Both have forward slashes, and no "." or "..".
func Within(name, dir string) bool {
	return name == dir || strings.HasPrefix(name, strings.TrimSuffix(dir, "/")+"/")
}

// CleanSubdir returns the normal form of the subdirectory of a module in its package; "" for the root.
func CleanSubdir(subdir string) string {
	if subdir = strings.TrimLeft(path.Clean(subdir), "/"); subdir == "." {
		return ""
	}
	return subdir
}
