package pathsafe

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

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

// Text returns why a text cannot be a path or the target of a link, or "".
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

// ReadText is [Text] with the limit for reading.
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

// Name returns why a written tree must not have an entry with this path, or "". It can still clash with
// another entry.
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

// Unportable returns why Windows cannot store a component, or "".
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
