package nesting

// FollowsGrammar reports whether the scanner found every token in place and
// nothing missing at the end, and else where it stopped.
func FollowsGrammar(src []byte) (offset int, fits bool) {
	s := newScanner(src, MaxLimit)
	offset, fits = s.scan()
	f := &s.stack[s.top]
	complete := f.state == itemStart || f.state == itemEnd || f.state == operator && f.waiting == 0
	return offset, fits && s.top == 0 && complete
}
