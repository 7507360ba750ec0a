package nesting

import "bytes"

// newlines reports whether a line's end means something in the frame.
func (f *frame) newlines() bool {
	return f.kind == inBody || f.kind == inOneLine || f.kind == inObject
}

// code takes one token outside of strings.
func (s *scanner) code(f *frame) bool {
	b := s.src[s.pos]
	switch {
	case b == ' ' || b == '\t':
		s.pos++
		return true
	case b == '\n' || b == '\r' && s.peek(1) == '\n':
		return s.newline(f, 1)
	case b == '#' || b == '/' && s.peek(1) == '/':
		return s.lineComment(f)
	case b == '/' && s.peek(1) == '*':
		return s.blockComment()
	case isNameStart(b):
		return s.name(f)
	case isDigit(b):
		return s.number(f)
	}
	if f.state == operator {
		return s.operator(f, b)
	}
	return s.punctuation(f, b)
}

// peek is the byte at an offset from the position, or 0 behind the end.
func (s *scanner) peek(offset int) byte {
	if s.pos+offset < len(s.src) {
		return s.src[s.pos+offset]
	}
	return 0
}

// newline takes a line's end of the given length.
func (s *scanner) newline(f *frame, length int) bool {
	if f.newlines() && !s.significantNewline(f) {
		return false
	}
	if s.src[s.pos] == '\r' {
		length++
	}
	s.pos += length
	return true
}

func (s *scanner) significantNewline(f *frame) bool {
	switch f.state {
	case itemStart, firstKey, objectKey:
		return true
	case itemEnd, blockOpen:
		f.state = itemStart
		return true
	case operator:
		switch {
		case f.kind == inBody:
			f.state = itemStart
			return s.endExpression(f)
		case f.kind == inObject && f.part == partValue:
			f.state = objectKey
			return s.endExpression(f)
		}
	}
	return false
}

func (s *scanner) lineComment(f *frame) bool {
	end := bytes.IndexByte(s.src[s.pos:], '\n')
	if end < 0 {
		s.pos = len(s.src)
		return true
	}
	if f.newlines() && !s.significantNewline(f) {
		return false
	}
	s.pos += end + 1
	return true
}

func (s *scanner) blockComment() bool {
	end := bytes.Index(s.src[s.pos+2:], []byte("*/"))
	if end < 0 {
		return false
	}
	s.pos += 2 + end + 2
	return true
}

// isNameStart knows ASCII only. A name in another script counts as a syntax
// error, which is harmless unless thousands of brackets follow: better than to
// take for a name what the parser's Unicode tables do not.
func isNameStart(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || b == '_'
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

func (s *scanner) name(f *frame) bool {
	end := s.pos + 1
	for end < len(s.src) && (isNameStart(s.src[end]) || isDigit(s.src[end]) || s.src[end] == '-') {
		end++
	}
	if end < len(s.src) && s.src[end] >= 0x80 {
		return false
	}
	if !s.nameFits(f, s.src[s.pos:end]) {
		return false
	}
	s.pos = end
	return true
}

func (s *scanner) nameFits(f *frame, word []byte) bool {
	switch f.state {
	case operand, firstItem, listItem, firstKey, objectKey:
		if string(word) == "for" && s.startFor(f) {
			return true
		}
		return s.term(f, true)
	case operator:
		return string(word) == "if" && s.forCondition(f)
	case attrName:
		f.state, f.afterName = operator, false
	case funcName:
		f.state = funcOpen
	case itemStart:
		f.state = itemHead
	case itemHead, itemLabel:
		f.state = itemLabel
	case blockOpen:
		f.kind, f.state = inOneLine, oneLineEqual
	default:
		return s.forWord(f, word)
	}
	return true
}

// term enters a term's first token.
func (s *scanner) term(f *frame, isName bool) bool {
	switch f.state {
	case operand, firstItem, listItem:
	case firstKey, objectKey:
		f.part = partKey
	default:
		return false
	}
	f.state, f.afterName = operator, isName
	return true
}

// number takes the longest run that the lexer takes for one, and accepts the
// plain ones of them.
func (s *scanner) number(f *frame) bool {
	end := s.pos + 1
	for i := end; i < len(s.src); {
		switch b := s.src[i]; {
		case isDigit(b):
			i++
			end = i
			continue
		case b == '.':
			i++
			continue
		case b == 'e' || b == 'E':
			i++
			if i < len(s.src) && (s.src[i] == '+' || s.src[i] == '-') {
				i++
			}
			if i < len(s.src) && isDigit(s.src[i]) {
				continue
			}
		}
		break
	}
	number := s.src[s.pos:end]
	switch {
	case !plainNumber(number):
		return false
	case f.state == attrName && bytes.IndexByte(number, '.') < 0:
		f.state, f.afterName = operator, false
	case !s.term(f, false):
		return false
	}
	s.pos = end
	return true
}

// plainNumber knows "1", "1.5" and "1.5e9", with an exponent that fits.
func plainNumber(b []byte) bool {
	const maxExponent = 4 // digits
	if i := bytes.IndexAny(b, "eE"); i >= 0 {
		exponent := bytes.TrimLeft(b[i+1:], "+-")
		if len(bytes.TrimLeft(exponent, "0")) > maxExponent || !allDigits(exponent) {
			return false
		}
		b = b[:i]
	}
	whole, fraction, _ := bytes.Cut(b, []byte("."))
	return allDigits(whole) && allDigits(fraction)
}

func allDigits(b []byte) bool {
	for _, c := range b {
		if !isDigit(c) {
			return false
		}
	}
	return true
}
