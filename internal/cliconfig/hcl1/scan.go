package hcl1

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

type kind uint8

const (
	end kind = iota
	identifier
	text // a quoted string or a heredoc
	number
	assign
	comma
	openBrace
	closeBrace
	openBracket
	closeBracket
)

// punctuation are the tokens of one character.
var punctuation = [...]kind{
	'=': assign,
	',': comma,
	'{': openBrace, '}': closeBrace,
	'[': openBracket, ']': closeBracket,
}

type token struct {
	kind   kind
	text   string // the name, number or what the string says
	offset int
}

type scanner struct {
	src []byte
	pos int
	// counted bytes hold so many line breaks.
	counted, breaks int
}

// position is the place of a byte. It counts on from the last one, so that all
// places of a file together take one pass.
func (s *scanner) position(offset int) Pos {
	offset = min(offset, len(s.src))
	if offset < s.counted {
		s.counted, s.breaks = 0, 0
	}
	s.breaks += bytes.Count(s.src[s.counted:offset], []byte{'\n'})
	s.counted = offset
	start := bytes.LastIndexByte(s.src[:offset], '\n') + 1
	return Pos{Line: s.breaks + 1, Column: offset - start + 1}
}

func (s *scanner) failAt(offset int, reason string) error {
	return &SyntaxError{Pos: s.position(offset), Reason: reason}
}

// next is the next token.
func (s *scanner) next() (token, error) {
	if err := s.skip(); err != nil {
		return token{}, err
	}
	start := s.pos
	if start == len(s.src) {
		return token{kind: end, offset: start}, nil
	}
	switch b := s.src[start]; {
	case int(b) < len(punctuation) && punctuation[b] != end:
		s.pos++
		return token{punctuation[b], "", start}, nil
	case b == '"':
		value, err := s.quoted()
		return token{text, value, start}, err
	case b == '<':
		value, err := s.heredoc()
		return token{text, value, start}, err
	case b == '-' || isDigit(b):
		s.pos++
		s.run(func(r rune) bool { return isNamePart(r) || r == '+' })
		return token{number, string(s.src[start:s.pos]), start}, nil
	}
	if r, _ := utf8.DecodeRune(s.src[start:]); r == '_' || r != utf8.RuneError && unicode.IsLetter(r) {
		s.run(isNamePart)
		return token{identifier, string(s.src[start:s.pos]), start}, nil
	}
	return token{}, s.failAt(start, "an unexpected character")
}

// isNamePart has the dot too: a hostname may stand without quotes.
func isNamePart(r rune) bool {
	return r == '_' || r == '-' || r == '.' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

// run takes characters while they fit.
func (s *scanner) run(fits func(rune) bool) {
	for s.pos < len(s.src) {
		r, size := utf8.DecodeRune(s.src[s.pos:])
		if !fits(r) {
			return
		}
		s.pos += size
	}
}

// skip takes blanks and comments.
func (s *scanner) skip() error {
	for s.pos < len(s.src) {
		rest := s.src[s.pos:]
		switch {
		case bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0:
			s.pos++
		case rest[0] == '#' || bytes.HasPrefix(rest, []byte("//")):
			if i := bytes.IndexByte(rest, '\n'); i >= 0 {
				s.pos += i
			} else {
				s.pos = len(s.src)
			}
		case bytes.HasPrefix(rest, []byte("/*")):
			i := bytes.Index(rest[2:], []byte("*/"))
			if i < 0 {
				return s.failAt(s.pos, "the comment has no end")
			}
			s.pos += 2 + i + 2
		default:
			return nil
		}
	}
	return nil
}
