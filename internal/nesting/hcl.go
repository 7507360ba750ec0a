package nesting

import "bytes"

// CheckHCL returns a [*DepthError] or [*SyntaxError] where src must not be
// given to hclsyntax.ParseConfig, and else nil. limit is the nesting allowed,
// usually [DefaultLimit].
func CheckHCL(src []byte, limit int) error {
	s := newScanner(src, limit)
	offset, fits := s.scan()
	switch {
	case !fits:
		return afterSyntaxError(src, offset, s.limit)
	case offset < len(src):
		line, column := position(src, offset)
		return &DepthError{Line: line, Column: column, Limit: s.limit}
	}
	return nil
}

func newScanner(src []byte, limit int) scanner {
	s := scanner{src: src, limit: clampLimit(limit)}
	s.stack[0] = frame{kind: inBody, state: itemStart}
	if bytes.HasPrefix(src, []byte("\xef\xbb\xbf")) {
		s.pos = 3
	}
	return s
}

// scan goes to the end, or to the token that goes over a limit, or to the one
// that does not fit the grammar.
func (s *scanner) scan() (offset int, fits bool) {
	for s.pos < len(s.src) {
		start := s.pos
		if !s.step() {
			return start, false
		}
		if s.depth > s.limit || s.longestChain > ChainFactor*s.limit {
			return start, true
		}
	}
	return s.pos, true
}

// kind is what a frame of the scanner's stack stands in.
type kind uint8

const (
	inBody      kind = iota // the file, or a block of many lines
	inOneLine               // block { name = value }
	inParen                 // ( expression )
	inCall                  // name( arguments )
	inTuple                 // [ expressions ]
	inIndex                 // value[ expression ]
	inObject                // { key = value, ... }
	inForTuple              // [for ...]
	inForObject             // {for ...}
	inInterp                // ${ ... }
	inControl               // %{ ... }
	inQuote                 // "..."
	inLabel                 // "..." as a block's label: no template
	inHeredoc               // <<MARK ... MARK
	inIf                    // between %{ if } and its end, within a string
	inElse                  // between %{ else } and its end
	inFor                   // between %{ for } and its end
)

// state is what a frame of code waits for. Frames of text have none.
type state uint8

const (
	operand      state = iota // the start of an expression or of its next term
	operator                  // what may follow a term
	attrName                  // a name, number or "*" behind a dot
	funcName                  // a name behind "::"
	funcOpen                  // "(" or "::" behind such a name
	itemStart                 // an attribute's or a block's name, or the end
	itemHead                  // "=", a label or "{"
	itemLabel                 // a label or "{"
	itemEnd                   // a newline behind a block
	blockOpen                 // behind a block's "{"
	oneLineEqual              // "=" in a block of one line
	oneLineEnd                // "}" or the end of its value
	firstItem                 // a tuple's first item, "for" or "]"
	listItem                  // an item, or the closing bracket
	callEnd                   // ")" behind "..."
	firstKey                  // an object's first key, "for" or "}"
	objectKey                 // a key or "}"
	forName                   // the first name of a for
	forNameNext               // "," or "in"
	forSecond                 // the second name
	forIn                     // "in"
	forGroup                  // "if" or "}" behind "..."
	directive                 // the keyword of a %{
	directiveEnd              // "}" behind else, endif, endfor
)

// part is which of its frame's expressions is being read, where that decides
// how it may end.
type part uint8

const (
	partOnly       part = iota // the only one, or any of a list
	partKey                    // an object's key
	partValue                  // an object's value
	partCollection             // for x in HERE
	partFirst                  // the value of a for, or its key before "=>"
	partResult                 // the value behind "=>"
	partCondition              // for ... if HERE
	partIf                     // %{ if HERE }
	partElse
	partEndIf
	partFor // %{ for x in HERE }
	partEndFor
)

// frame is one open construct.
type frame struct {
	kind  kind
	state state
	part  part

	afterName  bool // the term is so far one name: "(" makes it a call
	attrSplat  bool // ".*" was read, which must not be repeated
	lineStart  bool // in a heredoc: nothing of this line was read
	waiting    int32
	terms      int32 // unary operators and full splats around this term
	conditions int32 // "?" since the start of the expression
	chain      int32 // binary operators and indexes since then

	markStart, markEnd int32 // a heredoc's marker in the source
	text               int32 // of a directive: the stack index of its string
}

// scanner follows the grammar with a stack of its own.
type scanner struct {
	src          []byte
	pos          int
	limit        int
	depth        int // levels of the parser's recursion
	longestChain int
	top          int
	// Strings are frames but no levels, so there are up to two frames a level.
	stack [2*MaxLimit + 4]frame
}

// step takes one token or piece of text and reports whether it fits the
// grammar.
func (s *scanner) step() bool {
	f := &s.stack[s.top]
	switch f.kind {
	case inQuote, inLabel, inHeredoc, inIf, inElse, inFor:
		return s.text(f)
	default:
		return s.code(f)
	}
}

func levels(k kind) int {
	switch k {
	case inQuote, inLabel, inHeredoc:
		return 0
	}
	return 1
}

// push opens a frame. One level too many may be pushed: the caller's loop
// refuses the file before the next.
func (s *scanner) push(f frame) bool {
	s.top++
	s.stack[s.top] = f
	s.depth += levels(f.kind)
	return true
}

func (s *scanner) pop() *frame {
	f := &s.stack[s.top]
	s.endExpression(f)
	s.depth -= levels(f.kind)
	s.top--
	return &s.stack[s.top]
}

// closeTerm pops a frame that was a term, or the end of one, of the frame
// around it.
func (s *scanner) closeTerm() bool {
	f := s.pop()
	f.state, f.afterName = operator, false
	return true
}

// endTerm notes that the parser has returned from the term's own recursion.
func (s *scanner) endTerm(f *frame) {
	s.depth -= int(f.terms)
	f.terms, f.afterName, f.attrSplat = 0, false, false
}

// endExpression does so for a whole expression, and reports whether it may end
// here: every "?" must have met its ":".
func (s *scanner) endExpression(f *frame) bool {
	s.endTerm(f)
	s.depth -= int(f.conditions)
	complete := f.waiting == 0
	f.conditions, f.chain, f.waiting = 0, 0, 0
	return complete
}
