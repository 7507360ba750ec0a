package nesting

// punctuation takes a byte where no operator is due.
func (s *scanner) punctuation(f *frame, b byte) bool {
	switch f.state {
	case operand, firstItem, listItem, firstKey, objectKey:
		if fits, taken := s.termStart(f, b); taken {
			return fits
		}
	case itemHead:
		if b == '=' {
			f.state = operand
			return s.plainEqual()
		}
		return s.label(f, b)
	case itemLabel:
		return s.label(f, b)
	case oneLineEqual:
		f.state = operand
		return b == '=' && s.plainEqual()
	case attrName:
		return b == '*' && s.attrSplat(f)
	case funcOpen:
		return s.funcOpen(f, b)
	case forNameNext:
		f.state = forSecond
		s.pos++
		return b == ','
	}
	return s.closer(f, b)
}

// plainEqual takes "=" and not "==" or "=>".
func (s *scanner) plainEqual() bool {
	if next := s.peek(1); next == '=' || next == '>' {
		return false
	}
	s.pos++
	return true
}

// termStart takes what begins a term other than a name or number.
func (s *scanner) termStart(f *frame, b byte) (fits, taken bool) {
	var inner frame
	switch b {
	case '(':
		inner = frame{kind: inParen, state: operand}
	case '[':
		inner = frame{kind: inTuple, state: firstItem}
	case '{':
		inner = frame{kind: inObject, state: firstKey}
	case '"':
		inner = frame{kind: inQuote}
	case '<':
		return s.heredoc(f), true
	case '-':
		return s.unary(f), true
	case '!':
		return s.peek(1) != '=' && s.unary(f), true
	default:
		return false, false
	}
	return s.term(f, false) && s.open(f, inner), true
}

func (s *scanner) unary(f *frame) bool {
	if !s.term(f, false) {
		return false
	}
	f.state = operand
	f.terms++
	s.depth++
	s.pos++
	return true
}

// open takes the one byte that opens a frame.
func (s *scanner) open(f *frame, inner frame) bool {
	f.afterName = false
	s.pos++
	return s.push(inner)
}

func (s *scanner) label(f *frame, b byte) bool {
	switch b {
	case '"':
		f.state = itemLabel
		return s.open(f, frame{kind: inLabel})
	case '{':
		f.state = itemEnd
		return s.open(f, frame{kind: inBody, state: blockOpen})
	}
	return false
}

func (s *scanner) attrSplat(f *frame) bool {
	if f.attrSplat {
		return false
	}
	s.lengthen(f)
	f.state, f.attrSplat = operator, true
	s.pos++
	return true
}

func (s *scanner) funcOpen(f *frame, b byte) bool {
	switch {
	case b == '(':
		return s.open(f, frame{kind: inCall, state: listItem})
	case b == ':' && s.peek(1) == ':':
		f.state = funcName
		s.pos += 2
		return true
	}
	return false
}

// closer takes a closing bracket, which must be the frame's own.
func (s *scanner) closer(f *frame, b byte) bool {
	length := 1
	switch {
	case b == ')' && s.closesParen(f), b == ']' && s.closesBracket(f):
	case b == '}' && s.closesBrace(f):
	case b == '~' && s.peek(1) == '}' && (f.kind == inInterp || f.kind == inControl) && s.closesBrace(f):
		length = 2
	default:
		return false
	}
	if f.waiting > 0 {
		return false
	}
	s.pos += length
	switch f.kind {
	case inBody, inOneLine, inInterp:
		s.pop()
		return true
	case inControl:
		return s.closeDirective(f.part)
	}
	return s.closeTerm()
}

func (s *scanner) closesParen(f *frame) bool {
	switch f.kind {
	case inParen:
		return f.state == operator
	case inCall:
		return f.state == operator || f.state == listItem || f.state == callEnd
	}
	return false
}

func (s *scanner) closesBracket(f *frame) bool {
	switch f.kind {
	case inTuple:
		return f.state == operator || f.state == listItem || f.state == firstItem
	case inIndex:
		return f.state == operator
	case inForTuple:
		return f.state == operator && (f.part == partFirst || f.part == partCondition)
	}
	return false
}

func (s *scanner) closesBrace(f *frame) bool {
	switch f.kind {
	case inBody:
		return s.top > 0 && (f.state == itemStart || f.state == blockOpen)
	case inOneLine, inInterp:
		return f.state == operator
	case inObject:
		return f.state == firstKey || f.state == objectKey || f.state == operator && f.part == partValue
	case inForObject:
		return f.state == forGroup || f.state == operator && (f.part == partResult || f.part == partCondition)
	case inControl:
		return f.state == directiveEnd || f.state == operator && f.part != partOnly
	}
	return false
}
