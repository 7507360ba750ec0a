package addrs

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Module is the names of the module calls on the path from the root module, whose own path is empty.
type Module []string

// String returns the dotted path, such as "network.subnets", the key in modules.json and the label in the
// lock. Different paths have different strings, because names contain no dots.
func (m Module) String() string { return strings.Join(m, ".") }

// Child returns the path of the module that m calls by this name. It does not change m.
func (m Module) Child(name string) Module {
	return append(m[:len(m):len(m)], name)
}

// IsRoot reports whether m is the root module's path.
func (m Module) IsRoot() bool { return len(m) == 0 }

// testModule is the first part of the keys of modules that tests run. The other parts are
// the test file's directory and name, which stock tools only join with dots, and the name of the run.
const testModule = "test"

// ParseModule is the inverse of [Module.String] for valid names. The error is a *[ParseError]. Between a
// first name "test" and the last name are parts of the names of directories and files: they may be empty,
// and have all printable characters and spaces except dots, slashes and backslashes.
func ParseModule(key string) (Module, error) {
	if key == "" {
		return nil, nil
	}
	m := Module(strings.Split(key, "."))
	last := len(m) - 1
	for i, name := range m {
		inTest := i > 0 && m[0] == testModule
		switch {
		case validName(name):
		case inTest && i < last && validFilePart(name):
		case inTest && name != "" && validName("_"+name):
		case inTest && i < last:
			return nil, &ParseError{What: "module path", Input: key, Reason: "the name of a test file must be printable, without slashes and backslashes"}
		default:
			return nil, &ParseError{What: "module path", Input: key, Reason: "each part must be the name of a module call: letters, digits, underscores and dashes, with a letter or an underscore first"}
		}
	}
	return m, nil
}

// validFilePart reports whether s can be in the name of a file, and shown to users.
func validFilePart(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return r == '/' || r == '\\' || !unicode.IsGraphic(r) && !isNameStart(r) && !isNameRest(r)
	})
}

// validName reports whether s is an identifier of HCL's native syntax, as Unicode defines them, with
// dashes. It has no dot, slash, space or control character, so it can be part of a key and of a path.
// Characters that Go's version of Unicode does not know are accepted, because the HCL library may use a
// newer one.
func validName(s string) bool {
	if s == "" || !utf8.ValidString(s) {
		return false
	}
	for i, r := range s {
		if !isNameStart(r) && (i == 0 || !isNameRest(r)) {
			return false
		}
	}
	return true
}

// isNameStart reports whether r has the Unicode property ID_Start or is an underscore.
func isNameStart(r rune) bool {
	return r == '_' ||
		unicode.In(r, unicode.L, unicode.Nl, unicode.Other_ID_Start) && !isSyntax(r) ||
		isUnknown(r)
}

// isNameRest reports whether r has the Unicode property ID_Continue but not ID_Start, or is
// a dash. The last three characters have had the property since Unicode 15.1.
func isNameRest(r rune) bool {
	return r == '-' ||
		unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Other_ID_Continue) && !isSyntax(r) ||
		unicode.Is(unicode.Join_Control, r) || r == '\u30fb' || r == '\uff65'
}

func isSyntax(r rune) bool {
	return unicode.In(r, unicode.Pattern_Syntax, unicode.Pattern_White_Space)
}

// isUnknown reports whether r is unassigned in Go's tables but may be assigned later.
func isUnknown(r rune) bool {
	return unicode.Is(unicode.Cn, r) && !unicode.In(r, unicode.Noncharacter_Code_Point, unicode.Pattern_Syntax)
}
