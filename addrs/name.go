package addrs

import (
	"unicode"
	"unicode/utf8"
)

// ValidName reports whether s can be the name of a module call: an identifier
// of the HCL native syntax. It begins with a letter or an underscore, and goes
// on with letters, digits, combining marks, underscores and dashes, all by the
// definition of Unicode. In particular it holds no dot, slash or control
// character, so it can be a part of a key and of a path.
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

// isNameStart is the Unicode property ID_Start, and the underscore.
func isNameStart(r rune) bool {
	return r == '_' || unicode.In(r, unicode.L, unicode.Nl, unicode.Other_ID_Start) && !isSyntax(r)
}

// isNameRest is what the Unicode property ID_Continue has beyond ID_Start, and
// the dash.
func isNameRest(r rune) bool {
	return r == '-' || unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Other_ID_Continue) && !isSyntax(r)
}

func isSyntax(r rune) bool {
	return unicode.In(r, unicode.Pattern_Syntax, unicode.Pattern_White_Space)
}
