package jsonkeys

import "bytes"

// Scanner reads a text that is valid JSON, from At on, for callers that need only some of its values and their offsets.
type Scanner struct {
	Text []byte
	At   int
}

// More goes from behind the opening bracket, or behind an element, to the next element or key of an array or an object. At
// the end, it goes behind it and returns false.
func (s *Scanner) More() bool {
	for {
		switch s.Next(); s.Text[s.At] {
		case ',':
			s.At++
		case ']', '}':
			s.At++
			return false
		default:
			return true
		}
	}
}

// Key reads a key and the colon. It returns the key as written, with its quotes.
func (s *Scanner) Key() []byte {
	start := s.At
	s.str()
	key := s.Text[start:s.At]
	s.Next()
	s.At++
	return key
}

// Next goes to the next character that is not white space.
func (s *Scanner) Next() {
	for s.Text[s.At] <= ' ' {
		s.At++
	}
}

// Skip goes to the end of a value.
func (s *Scanner) Skip() {
	s.Next()
	for depth := 0; s.At < len(s.Text); {
		switch s.Text[s.At] {
		case '"':
			s.str()
		case '{', '[':
			depth++
			s.At++
			continue
		case '}', ']':
			if depth == 0 {
				return // behind a number or a word
			}
			depth--
			s.At++
		case ',':
			if depth == 0 {
				return
			}
			s.At++
			continue
		default:
			s.At++
			continue
		}
		if depth == 0 {
			return
		}
	}
}

// str goes to the end of a string.
func (s *Scanner) str() {
	for s.At++; ; s.At++ {
		s.At += bytes.IndexByte(s.Text[s.At:], '"')
		escapes := 0
		for s.Text[s.At-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			s.At++
			return
		}
	}
}
