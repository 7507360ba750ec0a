package nesting

// CheckJSON returns a [*DepthError] or [*SyntaxError] where src must not be
// given to a JSON parser, and else nil. limit is the number of objects and
// arrays that may be open at once.
func CheckJSON(src []byte, limit int) error {
	s := jsonScanner{src: src, limit: clampLimit(limit), state: jsonValue}
	for {
		s.skipSpace()
		if s.pos >= len(src) {
			return nil
		}
		start := s.pos
		if !s.token() {
			return afterSyntaxError(src, start, s.limit)
		}
		if s.depth > s.limit {
			line, column := position(src, start)
			return &DepthError{Line: line, Column: column, Limit: s.limit}
		}
	}
}

type jsonState uint8

const (
	jsonValue      jsonState = iota // a value must follow
	jsonFirstValue                  // a value or "]"
	jsonKey                         // a property name must follow
	jsonFirstKey                    // a property name or "}"
	jsonColon                       // ":"
	jsonAfter                       // "," or the closing bracket
	jsonEnd                         // nothing but the end
)

type jsonScanner struct {
	src    []byte
	pos    int
	limit  int
	depth  int
	state  jsonState
	object [MaxLimit + 2]bool // whether the open bracket at each depth is "{"
}

func (s *jsonScanner) skipSpace() {
	for s.pos < len(s.src) {
		switch s.src[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// token takes one token and reports whether it fits.
func (s *jsonScanner) token() bool {
	wantsValue := s.state == jsonValue || s.state == jsonFirstValue
	switch b := s.src[s.pos]; b {
	case '{', '[':
		if !wantsValue {
			return false
		}
		s.open(b == '{')
		return true
	case '}':
		return (s.state == jsonFirstKey || s.state == jsonAfter) && s.close(true)
	case ']':
		return (s.state == jsonFirstValue || s.state == jsonAfter) && s.close(false)
	case ',', ':':
		return s.separator(b)
	case '"':
		if s.state == jsonKey || s.state == jsonFirstKey {
			s.state = jsonColon
			return s.str()
		}
		return wantsValue && s.str() && s.valueDone()
	default:
		return wantsValue && s.scalar() && s.valueDone()
	}
}

func (s *jsonScanner) open(object bool) {
	s.depth++
	s.pos++
	if s.depth <= s.limit {
		s.object[s.depth] = object
	}
	s.state = jsonFirstValue
	if object {
		s.state = jsonFirstKey
	}
}

func (s *jsonScanner) close(object bool) bool {
	if s.depth == 0 || s.object[s.depth] != object {
		return false
	}
	s.depth--
	s.pos++
	return s.valueDone()
}

func (s *jsonScanner) valueDone() bool {
	s.state = jsonAfter
	if s.depth == 0 {
		s.state = jsonEnd
	}
	return true
}

func (s *jsonScanner) separator(b byte) bool {
	switch {
	case b == ':' && s.state == jsonColon:
		s.state = jsonValue
	case b == ',' && s.state == jsonAfter && s.object[s.depth]:
		s.state = jsonKey
	case b == ',' && s.state == jsonAfter:
		s.state = jsonValue
	default:
		return false
	}
	s.pos++
	return true
}

// str skips a string; its escapes are left to the parser, but for their length.
func (s *jsonScanner) str() bool {
	for i := s.pos + 1; i < len(s.src); i++ {
		switch b := s.src[i]; {
		case b == '"':
			s.pos = i + 1
			return true
		case b == '\\':
			i++
		case b < 0x20:
			return false
		}
	}
	return false
}

// scalar skips a number or keyword without judging it: whatever it is, it
// neither opens nor closes anything.
func (s *jsonScanner) scalar() bool {
	start := s.pos
	for s.pos < len(s.src) && isJSONScalar(s.src[s.pos]) {
		s.pos++
	}
	return s.pos > start
}

func isJSONScalar(b byte) bool {
	return '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || b == '+' || b == '-' || b == '.'
}
