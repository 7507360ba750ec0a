package wildmatch

import "strings"

var posixClasses = map[string]func(c byte) bool{
	"alnum":  func(c byte) bool { return isAlpha(c) || isDigit(c) },
	"alpha":  isAlpha,
	"blank":  func(c byte) bool { return c == ' ' || c == '\t' },
	"cntrl":  func(c byte) bool { return c < ' ' || c == 0x7f },
	"digit":  isDigit,
	"graph":  func(c byte) bool { return ' ' < c && c < 0x7f },
	"lower":  func(c byte) bool { return 'a' <= c && c <= 'z' },
	"print":  func(c byte) bool { return ' ' <= c && c < 0x7f },
	"punct":  func(c byte) bool { return ' ' < c && c < 0x7f && !isAlpha(c) && !isDigit(c) },
	"space":  func(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' },
	"upper":  func(c byte) bool { return 'A' <= c && c <= 'Z' },
	"xdigit": func(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' },
}

func isAlpha(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// parseClass returns false if the expression has no end, or an unknown class.
func parseClass(text string, start int) (set *[256]bool, next int, ok bool) {
	set = &[256]bool{}
	i := start + 1
	negated := i < len(text) && (text[i] == '!' || text[i] == '^')
	if negated {
		i++
	}
	last := -1 // the previous character, which can begin a range; -1 if it cannot
	for first := true; ; first = false {
		if i >= len(text) {
			return nil, 0, false
		}
		if text[i] == ']' && !first {
			break
		}
		if name, end, isPosix := posixName(text, i); isPosix {
			class, known := posixClasses[name]
			if !known {
				return nil, 0, false
			}
			for c := range 256 {
				set[c] = set[c] || class(byte(c))
			}
			i, last = end, -1
			continue
		}
		isRange := text[i] == '-' && last >= 0 && i+1 < len(text) && text[i+1] != ']'
		if isRange {
			i++
		}
		if text[i] == '\\' {
			i++
		}
		if i >= len(text) {
			return nil, 0, false
		}
		c := int(text[i])
		i++
		if !isRange {
			set[c], last = true, c
			continue
		}
		for x := last; x <= c; x++ {
			set[x] = true
		}
		last = -1
	}
	if negated {
		for c := range set {
			set[c] = !set[c]
		}
	}
	return set, i + 1, true
}

// posixName needs ":]" before the next "]".
func posixName(text string, i int) (name string, end int, ok bool) {
	rest, ok := strings.CutPrefix(text[i:], "[:")
	if !ok {
		return "", 0, false
	}
	length := strings.IndexByte(rest, ']')
	if length < 1 || rest[length-1] != ':' {
		return "", 0, false
	}
	return rest[:length-1], i + 2 + length + 1, true
}
