package nesting

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// text takes a piece of a string.
func (s *scanner) text(f *frame) bool {
	str := &s.stack[s.textFrame()]
	if str.kind == inHeredoc {
		if done, fits := s.heredocLine(f, str); done {
			return fits
		}
	}
	switch b := s.src[s.pos]; {
	case b == '$' || b == '%':
		return s.dollar(str, b)
	case b == '\n' && str.kind == inHeredoc:
		str.lineStart = true
	case b == '\r' && str.kind == inHeredoc && s.peek(1) == '\n':
	case b == '\n' || b == '\r':
		return false
	case str.kind == inHeredoc:
		return s.character()
	case b == '"':
		return s.closeQuote(f)
	case b == '\\':
		return s.escape()
	default:
		return s.character()
	}
	s.pos++
	return true
}

func (s *scanner) character() bool {
	if s.src[s.pos] < utf8.RuneSelf {
		s.pos++
		return true
	}
	r, size := utf8.DecodeRune(s.src[s.pos:])
	s.pos += size
	return r != utf8.RuneError || size > 1
}

// dollar takes "${" or "%{", its escape "$${", or the byte for itself.
func (s *scanner) dollar(str *frame, b byte) bool {
	switch {
	case s.peek(1) == '{' && str.kind == inLabel:
		return false
	case s.peek(1) == '{':
		s.pos += 2
		if s.peek(0) == '~' {
			s.pos++
		}
		if b == '$' {
			return s.push(frame{kind: inInterp, state: operand})
		}
		return s.push(frame{kind: inControl, state: directive})
	case s.peek(1) == b && s.peek(2) == '{':
		s.pos += 3
	default:
		s.pos++
	}
	return true
}

func (s *scanner) closeQuote(f *frame) bool {
	s.pos++
	switch f.kind {
	case inLabel:
		s.pop()
		return true
	case inQuote:
		return s.closeTerm()
	}
	return false // a directive misses its end
}

// escape takes a backslash and what it stands in front of.
func (s *scanner) escape() bool {
	digits := 0
	switch s.peek(1) {
	case 'n', 'r', 't', '"', '\\':
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	default:
		return false
	}
	var r rune
	for i := range digits {
		d := strings.IndexByte("0123456789abcdef", lower(s.peek(2+i)))
		if d < 0 || r > utf8.MaxRune {
			return false
		}
		r = r<<4 | rune(d)
	}
	s.pos += 2 + digits
	return digits == 0 || utf8.ValidRune(r)
}

func lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b | 0x20
	}
	return b
}

// heredoc takes a heredoc's first line.
func (s *scanner) heredoc(f *frame) bool {
	i := s.pos + 2
	if s.peek(1) != '<' {
		return false
	}
	if s.peek(2) == '-' {
		i++
	}
	start := i
	for i < len(s.src) && (isNameStart(s.src[i]) || i > start && (isDigit(s.src[i]) || s.src[i] == '-')) {
		i++
	}
	end := i
	if i < len(s.src) && s.src[i] == '\r' {
		i++
	}
	if end == start || i >= len(s.src) || s.src[i] != '\n' || !s.term(f, false) {
		return false
	}
	s.pos = i + 1
	return s.push(frame{kind: inHeredoc, lineStart: true, markStart: int32(start), markEnd: int32(end)})
}

// heredocLine looks at the start of a line whether it is the heredoc's last.
// That one leaves its newline to the code around.
func (s *scanner) heredocLine(f, str *frame) (done, fits bool) {
	if !str.lineStart {
		return false, true
	}
	str.lineStart = false
	length := bytes.IndexByte(s.src[s.pos:], '\n')
	if length < 0 {
		return false, true // no newline, no end: the parser says so
	}
	line := bytes.TrimSuffix(s.src[s.pos:s.pos+length], []byte("\r"))
	if !bytes.Equal(bytes.TrimSpace(line), s.src[str.markStart:str.markEnd]) {
		return false, true
	}
	if f != str || bytes.IndexByte(line, '\r') >= 0 {
		return true, false
	}
	s.pos += len(line)
	return true, s.closeTerm()
}
