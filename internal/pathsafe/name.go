package pathsafe

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// MaxPath limits paths and link targets that are written, in bytes. It leaves room for the
	// project's directory within PATH_MAX.
	MaxPath = 1024
	// MaxReadPath limits paths and link targets that are read, in bytes. Linux cannot open longer
	// paths.
	MaxReadPath = 4096
	// maxComponent is the maximum length of a name in common file systems, in bytes.
	maxComponent = 255
	// maxDepth limits the number of directories that are open at once, and the recursion of code
	// that reads the tree.
	maxDepth = 64
)

// Text returns the reason why a text cannot be a path or the target of a link, or "".
func Text(s string) string {
	if !utf8.ValidString(s) {
		return "is not valid UTF-8"
	}
	if i := strings.IndexFunc(s, unicode.IsControl); i >= 0 {
		r, _ := utf8.DecodeRuneInString(s[i:])
		return fmt.Sprintf("holds the control character %U", r)
	}
	return ""
}

// ReadText is [Text] for paths and targets that are read, with their limit.
func ReadText(s string) string {
	if len(s) > MaxReadPath {
		return fmt.Sprintf("is longer than %d bytes", MaxReadPath)
	}
	return Text(s)
}

func writtenText(s string) string {
	if reason := Text(s); reason != "" {
		return reason
	}
	for _, r := range s {
		switch {
		case r == '\\':
			return "holds a backslash, which is a separator on Windows"
		case isDeceptive(r):
			return fmt.Sprintf("holds %U, which changes how the text around it is shown", r)
		}
	}
	return ""
}

// isDeceptive reports whether r is a bidi control (Unicode's Bidi_Control), a
// line or paragraph separator, or a byte order mark.
func isDeceptive(r rune) bool {
	switch {
	case r == 0x061c, r == 0x200e, r == 0x200f:
		return true
	case 0x2028 <= r && r <= 0x202e, 0x2066 <= r && r <= 0x2069:
		return true
	}
	return r == 0xfeff
}

// Name returns the reason why a tree that is written must not have an entry with this path, or
// "". A path that it accepts can still clash with another entry.
func Name(path string) string {
	if len(path) > MaxPath {
		return fmt.Sprintf("is longer than %d bytes", MaxPath)
	}
	if reason := writtenText(path); reason != "" {
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

func componentFault(component string) string {
	switch {
	case component == "":
		return "is absolute, or has an empty component"
	case component == "." || component == "..":
		return fmt.Sprintf("has a %q component", component)
	case len(component) > maxComponent:
		return fmt.Sprintf("has a component of more than %d bytes", maxComponent)
	case IsVersionControl(component):
		return "is that of version control metadata"
	}
	return ""
}

// metadata are the directories in which git, Mercurial, Subversion and Bazaar keep their data. In
// submodules and worktrees, .git is a file.
var metadata = []string{".git", ".hg", ".svn", ".bzr"}

// IsMetadata reports whether a component is the name of version control metadata.
func IsMetadata(component string) bool { return slices.Contains(metadata, component) }

// IsVersionControl reports whether some file system would take a component of a path for version
// control metadata. A package with metadata could contain hooks and configuration that are run
// with the user's rights as soon as a tool looks at them.
//
// It covers the same spellings as git's own check: any case, trailing dots and spaces, NTFS
// streams (".git::$INDEX_ALLOCATION") and short names ("git~1"), and the code points that HFS+
// ignores in comparisons.
func IsVersionControl(component string) bool {
	name := strings.Map(withoutIgnorable, component)
	name, _, _ = strings.Cut(name, ":")
	name = strings.TrimRight(name, ". ")
	return slices.ContainsFunc(metadata, func(m string) bool {
		return strings.EqualFold(name, m) || strings.EqualFold(name, m[1:]+"~1")
	})
}

// VersionControlPart returns the first component of a path that [IsVersionControl] recognizes, or
// "". Slashes and backslashes separate components, whatever the system is.
func VersionControlPart(path string) string {
	for component := range strings.FieldsFuncSeq(path, func(r rune) bool { return r == '/' || r == '\\' }) {
		if IsVersionControl(component) {
			return component
		}
	}
	return ""
}

// withoutIgnorable is a function for strings.Map that removes the code points that HFS+ ignores.
func withoutIgnorable(r rune) rune {
	switch {
	case 0x200c <= r && r <= 0x200f, 0x202a <= r && r <= 0x202e, 0x206a <= r && r <= 0x206f, r == 0xfeff:
		return -1
	}
	return r
}

// Unportable returns the reason why Windows cannot store a component, or "".
func Unportable(component string) string {
	switch {
	case strings.ContainsAny(component, `<>:"|?*`):
		return `holds one of <>:"|?*, which Windows does not allow`
	case strings.HasSuffix(component, ".") || strings.HasSuffix(component, " "):
		return "ends in a dot or a space, which Windows drops"
	case isReserved(component):
		return "is that of a device on Windows"
	}
	return ""
}

// isReserved reports whether Windows takes a component for a device. Only the part before the
// first dot counts, without trailing spaces.
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

// Within reports whether name is the path dir or a path below it. Both must have forward slashes
// and no "." or "..".
func Within(name, dir string) bool {
	return name == dir || strings.HasPrefix(name, strings.TrimSuffix(dir, "/")+"/")
}
