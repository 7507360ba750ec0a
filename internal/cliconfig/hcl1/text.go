package hcl1

import (
	"bytes"
	"strconv"
	"strings"
)

const noEnd = "the string has no end"

// quoted takes a string in quotes. What stands in "${" and "}" is no matter of
// its escapes and may hold quotes and line breaks.
func (s *scanner) quoted() (string, error) {
	start := s.pos
	var value strings.Builder
	s.pos++
	for s.pos < len(s.src) {
		rest := s.src[s.pos:]
		switch {
		case rest[0] == '"':
			s.pos++
			return value.String(), nil
		case rest[0] == '\n':
			return "", s.failAt(start, noEnd)
		case rest[0] == '\\':
			if err := s.escape(&value); err != nil {
				return "", err
			}
		case bytes.HasPrefix(rest, []byte("${")):
			length := interpolation(rest)
			if length == 0 {
				return "", s.failAt(start, noEnd)
			}
			value.Write(rest[:length])
			s.pos += length
		default:
			value.WriteByte(rest[0])
			s.pos++
		}
	}
	return "", s.failAt(start, noEnd)
}

// interpolation is the length of what begins with "${", or 0 without its end.
func interpolation(src []byte) int {
	depth := 0
	for i, b := range src {
		switch b {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

// escape takes a backslash and what belongs to it: the escapes of Go, in which
// a single quote needs none.
func (s *scanner) escape(value *strings.Builder) error {
	const longest = len(`\U0010FFFF`)
	rest := s.src[s.pos:min(s.pos+longest, len(s.src))]
	r, multibyte, tail, err := strconv.UnquoteChar(string(rest), '"')
	if err != nil {
		return s.failAt(s.pos, "an unknown escape")
	}
	if multibyte {
		value.WriteRune(r)
	} else {
		value.WriteByte(byte(r))
	}
	s.pos += len(rest) - len(tail)
	return nil
}

// heredoc takes <<MARK or <<-MARK, lines, and MARK on a line of its own. With
// the dash the indentation of the mark's line is taken off all lines that have
// it.
func (s *scanner) heredoc() (string, error) {
	start := s.pos
	first, body, found := bytes.Cut(s.src[start:], []byte("\n"))
	mark, isHeredoc := strings.CutPrefix(strings.TrimSuffix(string(first), "\r"), "<<")
	mark, dash := strings.CutPrefix(mark, "-")
	if !isHeredoc || !found || mark == "" || strings.ContainsAny(mark, " \t\"") {
		return "", s.failAt(start, "an unexpected character")
	}
	s.pos += len(first) + 1
	var lines []string
	for line := range bytes.Lines(body) {
		s.pos += len(line)
		content := strings.TrimRight(string(line), "\r\n")
		if indent, last := strings.CutSuffix(content, mark); last && strings.TrimLeft(indent, " \t") == "" {
			s.pos -= len(line) - len(content) // a line break may matter to nobody, but is not ours
			if dash {
				for i := range lines {
					lines[i] = strings.TrimPrefix(lines[i], indent)
				}
			}
			return strings.Join(lines, ""), nil
		}
		lines = append(lines, string(line))
	}
	return "", s.failAt(start, noEnd)
}
