package addrs

import (
	"unicode"
	"unicode/utf8"
)

// ValidName reports whether s can be the name of a module call, which is an identifier of
// the HCL native syntax. It begins with a letter or an underscore, followed by letters,
// digits, combining marks, underscores and dashes, as Unicode defines them. In particular,
// a name contains no dot, slash, space or control character, so it can be part of a key and
// of a path.
//
// The HCL library uses a newer version of Unicode than Go. Characters that Go does not know
// are accepted, so that every name that HCL accepts is valid.
func ValidName(s string) bool {
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
