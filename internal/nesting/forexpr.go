package nesting

// startFor turns a tuple or object into a for expression if the word "for" is
// its first token. Elsewhere the word is a name like any other.
func (s *scanner) startFor(f *frame) bool {
	switch {
	case f.kind == inTuple && f.state == firstItem:
		f.kind = inForTuple
	case f.kind == inObject && f.state == firstKey:
		f.kind = inForObject
	default:
		return false
	}
	f.state = forName
	return true
}

// forWord takes the words of a for's head, and of a template directive.
func (s *scanner) forWord(f *frame, word []byte) bool {
	switch f.state {
	case forName:
		f.state = forNameNext
	case forSecond:
		f.state = forIn
	case forNameNext, forIn:
		if string(word) != "in" {
			return false
		}
		f.state = operand
		if f.kind != inControl {
			f.part = partCollection
		}
	case forGroup:
		return string(word) == "if" && s.forCondition(f)
	case directive:
		return directiveWord(f, word)
	default:
		return false
	}
	return true
}

// forCondition takes the "if" behind a for's result.
func (s *scanner) forCondition(f *frame) bool {
	tuple := f.kind == inForTuple && f.part == partFirst
	object := f.kind == inForObject && f.part == partResult
	if !tuple && !object || !s.endExpression(f) {
		return false
	}
	f.part, f.state = partCondition, operand
	return true
}

func directiveWord(f *frame, word []byte) bool {
	switch string(word) {
	case "if":
		f.part, f.state = partIf, operand
	case "for":
		f.part, f.state = partFor, forName
	case "else":
		f.part, f.state = partElse, directiveEnd
	case "endif":
		f.part, f.state = partEndIf, directiveEnd
	case "endfor":
		f.part, f.state = partEndFor, directiveEnd
	default:
		return false
	}
	return true
}

// closeDirective leaves a "%{ ... }". A directive stands in its string's frame
// or in that of a directive around it; "if" and "for" open a frame that lasts
// to their end.
func (s *scanner) closeDirective(p part) bool {
	outer := s.pop()
	switch p {
	case partIf, partFor:
		inner := frame{kind: inIf, text: int32(s.textFrame())}
		if p == partFor {
			inner.kind = inFor
		}
		return s.push(inner)
	case partElse:
		fits := outer.kind == inIf
		outer.kind = inElse
		return fits
	case partEndIf:
		if outer.kind != inIf && outer.kind != inElse {
			return false
		}
	case partEndFor:
		if outer.kind != inFor {
			return false
		}
	}
	s.pop()
	return true
}

// textFrame is the stack index of the string that the top frame, a string or a
// directive, belongs to.
func (s *scanner) textFrame() int {
	switch f := &s.stack[s.top]; f.kind {
	case inIf, inElse, inFor:
		return int(f.text)
	default:
		return s.top
	}
}
