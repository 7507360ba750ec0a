package gitattr

import (
	"strings"

	"github.com/cotterpin/cotter/internal/git/wildmatch"
)

type rule struct {
	pattern wildmatch.Pattern
	sets    []assignment
}

type assignment struct {
	name  string
	value value
}

// value is zero if no rule matched.
type value struct {
	state state
	text  string // if the state is isText
}

type state uint8

const (
	isUnknown     state = iota
	isSet               // NAME
	isUnset             // -NAME
	isUnspecified       // !NAME
	isText              // NAME=TEXT
)

const (
	attrText     = "text"
	attrCRLF     = "crlf"
	attrEOL      = "eol"
	attrIdent    = "ident"
	attrEncoding = "working-tree-encoding"
)

const (
	// maxLine is from where on git ignores a line, in bytes.
	maxLine = 2048
	blanks  = " \t\r\n"
	macro   = "[attr]"
)

// parse leaves out lines that git ignores.
func parse(content string) (rules []rule, macros map[string][]assignment) {
	// Git treats the content as a C string.
	content, _, _ = strings.Cut(content, "\x00")
	macros = map[string][]assignment{}
	for line := range strings.SplitSeq(content, "\n") {
		name, sets, ok := parseLine(line)
		if defined, isMacro := strings.CutPrefix(name, macro); ok && isMacro && defined != "" {
			defined, _ = cutField(strings.TrimLeft(defined, blanks))
			if validName(defined) {
				macros[defined] = sets
			}
			continue
		}
		// Directories, at a slash, have no content.
		if ok && !strings.HasPrefix(name, "!") && !strings.HasSuffix(name, "/") {
			rules = append(rules, rule{pattern: wildmatch.Parse(name), sets: sets})
		}
	}
	return rules, macros
}

// parseLine returns a pattern or a macro; false if the line has no meaning.
func parseLine(line string) (name string, sets []assignment, ok bool) {
	trimmed := strings.TrimLeft(line, blanks)
	if trimmed == "" || trimmed[0] == '#' || len(line) >= maxLine {
		return "", nil, false
	}
	name, rest, quoted := unquote(trimmed)
	if !quoted {
		name, rest = cutField(trimmed)
	}
	sets, ok = parseAssignments(rest)
	return name, sets, ok
}

func cutField(s string) (field, rest string) {
	if i := strings.IndexAny(s, blanks); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

// parseAssignments returns false for an invalid name, for which git ignores the line.
func parseAssignments(text string) (sets []assignment, ok bool) {
	for _, field := range strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(blanks, c) }) {
		name, text, hasText := strings.Cut(field, "=")
		set := assignment{name: name, value: value{state: isSet}}
		switch {
		case strings.HasPrefix(name, "-"):
			set = assignment{name: name[1:], value: value{state: isUnset}}
		case strings.HasPrefix(name, "!"):
			set = assignment{name: name[1:], value: value{state: isUnspecified}}
		case hasText:
			set.value = value{state: isText, text: text}
		}
		if !validName(set.name) {
			return nil, false
		}
		sets = append(sets, set)
	}
	return sets, true
}

func validName(name string) bool {
	const others = "-._0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	return name != "" && name[0] != '-' && strings.Trim(name, others) == ""
}

// unquote parses C escapes; false if there are no quotes, or git does not accept it.
func unquote(s string) (text, rest string, ok bool) {
	if s[0] != '"' {
		return "", "", false
	}
	const letters, meanings = `abfnrtv\"`, "\a\b\f\n\r\t\v\\\""
	var out strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; c {
		case '"':
			return out.String(), s[i+1:], true
		case '\\':
			if i++; i == len(s) {
				return "", "", false
			}
			if at := strings.IndexByte(letters, s[i]); at >= 0 {
				out.WriteByte(meanings[at])
				continue
			}
			if i+2 >= len(s) || s[i] > '3' || !isOctal(s[i]) || !isOctal(s[i+1]) || !isOctal(s[i+2]) {
				return "", "", false
			}
			out.WriteByte((s[i]-'0')<<6 | (s[i+1]-'0')<<3 | (s[i+2] - '0'))
			i += 2
		default:
			out.WriteByte(c)
		}
	}
	return "", "", false
}

func isOctal(c byte) bool { return '0' <= c && c <= '7' }
