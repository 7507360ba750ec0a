package treewriter

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// CheckName reports why a tree must not hold an entry of this name, a path
// with slashes, as a *[PathError]. What it accepts can still clash with another
// entry.
func CheckName(name string) error {
	if reason := nameFault(name); reason != "" {
		return &PathError{Path: name, Reason: reason}
	}
	return nil
}

func nameFault(name string) string {
	if len(name) > maxPath {
		return fmt.Sprintf("the path is longer than %d bytes", maxPath)
	}
	if reason := textFault(name); reason != "" {
		return reason
	}
	depth := 0
	for component := range strings.SplitSeq(name, "/") {
		if reason := componentFault(component); reason != "" {
			return reason
		}
		depth++
	}
	if depth > maxDepth {
		return fmt.Sprintf("the path is deeper than %d directories", maxDepth)
	}
	return ""
}

// textFault says what makes text unfit to be a name, or the target of a link.
func textFault(name string) string {
	if !utf8.ValidString(name) {
		return "the name is not valid UTF-8"
	}
	for _, r := range name {
		switch {
		case r == '\\':
			return "the name holds a backslash, which is a separator on Windows"
		case r < 0x20, 0x7f <= r && r <= 0x9f:
			return fmt.Sprintf("the name holds the control character %U", r)
		case isDeceptive(r):
			return fmt.Sprintf("the name holds %U, which changes how the text around it is shown", r)
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

func componentFault(component string) string {
	switch {
	case component == "":
		return "the path is absolute, or has an empty component"
	case component == "." || component == "..":
		return fmt.Sprintf("the path has a %q component", component)
	case len(component) > maxComponent:
		return fmt.Sprintf("a component of the path is longer than %d bytes", maxComponent)
	case IsVersionControl(component):
		return "the name is that of version control metadata"
	}
	return ""
}
