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
// the test file's directory and name, and the name of the run.
const testModule = "test"

// ParseModule is the inverse of [Module.String] for valid names. The error is a *[ParseError]. After a
// first name "test", names may also begin with a digit or a dash, as names of test files do.
func ParseModule(key string) (Module, error) {
	if key == "" {
		return nil, nil
	}
	m := Module(strings.Split(key, "."))
	for i, name := range m {
		fileName := i > 0 && m[0] == testModule && validName("_"+name) && name != ""
		if !validName(name) && !fileName {
			return nil, &ParseError{What: "module path", Input: key, Reason: "each part must be the name of a module call: letters, digits, underscores and dashes, with a letter or an underscore first"}
		}
	}
	return m, nil
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
