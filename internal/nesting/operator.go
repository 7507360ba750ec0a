package nesting

// operator takes what may follow a term: an operator, a step into the value,
// or the end of the expression.
func (s *scanner) operator(f *frame, b byte) bool {
	next := s.peek(1)
	switch b {
	case '+', '-', '*', '/', '%':
		return s.binary(f, 1)
	case '=':
		return s.equals(f, next)
	case '<', '>':
		if next == '=' {
			return s.binary(f, 2)
		}
		// "<<" would begin a heredoc, out of place; "<<<" one that is compared.
		return (b != next || b == '<' && s.peek(2) == '<') && s.binary(f, 1)
	case '!':
		return next == '=' && s.binary(f, 2)
	case '&', '|':
		return next == b && s.binary(f, 2)
	case '?':
		return s.condition(f)
	case ':':
		return s.colon(f, next)
	case '.':
		return s.dot(f, next)
	case '[':
		return s.index(f)
	case '(':
		return f.afterName && s.open(f, frame{kind: inCall, state: listItem})
	case ',':
		return s.comma(f)
	}
	return s.closer(f, b)
}

// binary takes a binary operator.
func (s *scanner) binary(f *frame, length int) bool {
	s.endTerm(f)
	s.lengthen(f)
	f.state = operand
	s.pos += length
	return true
}

func (s *scanner) lengthen(f *frame) {
	f.chain++
	s.longestChain = max(s.longestChain, int(f.chain))
}

// condition takes "?". The parser returns from the branches only at the end of
// the whole expression, where conditionals are chained by their last branch.
func (s *scanner) condition(f *frame) bool {
	s.endTerm(f)
	f.conditions++
	f.waiting++
	s.depth++
	f.state = operand
	s.pos++
	return true
}

func (s *scanner) equals(f *frame, next byte) bool {
	switch {
	case next == '=':
		return s.binary(f, 2)
	case next == '>':
		if f.kind != inForObject || f.part != partFirst || !s.endExpression(f) {
			return false
		}
		f.part, f.state = partResult, operand
		s.pos += 2
		return true
	default:
		return s.objectValue(f)
	}
}

// objectValue takes "=" or ":" behind an object's key.
func (s *scanner) objectValue(f *frame) bool {
	if f.kind != inObject || f.part != partKey || !s.endExpression(f) {
		return false
	}
	f.part, f.state = partValue, operand
	s.pos++
	return true
}

func (s *scanner) colon(f *frame, next byte) bool {
	switch {
	case next == ':':
		if !f.afterName {
			return false
		}
		f.state = funcName
		s.pos++
	case f.waiting > 0:
		s.endTerm(f)
		f.waiting--
		f.state = operand
	case f.part == partCollection && (f.kind == inForTuple || f.kind == inForObject):
		s.endExpression(f)
		f.part, f.state = partFirst, operand
	default:
		return s.objectValue(f)
	}
	s.pos++
	return true
}

func (s *scanner) dot(f *frame, next byte) bool {
	if next == '.' {
		return s.peek(2) == '.' && s.ellipsis(f)
	}
	f.state, f.afterName = attrName, false
	s.pos++
	return true
}

// ellipsis takes "...", which expands a call's last argument or groups the
// results of a for.
func (s *scanner) ellipsis(f *frame) bool {
	if !s.endExpression(f) {
		return false
	}
	switch {
	case f.kind == inCall:
		f.state = callEnd
	case f.kind == inForObject && f.part == partResult:
		f.state = forGroup
	default:
		return false
	}
	s.pos += 3
	return true
}

// index takes "[" behind a value, or the whole of "[*]".
func (s *scanner) index(f *frame) bool {
	if end := s.fullSplat(); end > 0 {
		f.terms++
		s.depth++
		f.afterName, f.attrSplat = false, false
		s.pos = end
		return true
	}
	s.lengthen(f)
	f.attrSplat = false
	return s.open(f, frame{kind: inIndex, state: operand})
}

// fullSplat is the offset behind "[*]", or 0 where there is none. Only spaces
// may stand in it: the parser takes a newline there now for nothing and now
// for an error.
func (s *scanner) fullSplat() int {
	i := s.spaces(s.pos + 1)
	if i >= len(s.src) || s.src[i] != '*' {
		return 0
	}
	if i = s.spaces(i + 1); i >= len(s.src) || s.src[i] != ']' {
		return 0
	}
	return i + 1
}

func (s *scanner) spaces(i int) int {
	for i < len(s.src) && (s.src[i] == ' ' || s.src[i] == '\t') {
		i++
	}
	return i
}

func (s *scanner) comma(f *frame) bool {
	if !s.endExpression(f) {
		return false
	}
	switch {
	case f.kind == inCall || f.kind == inTuple:
		f.state = listItem
	case f.kind == inObject && f.part == partValue:
		f.state = objectKey
	default:
		return false
	}
	s.pos++
	return true
}
