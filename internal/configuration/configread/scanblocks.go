package configread

import (
	"bytes"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
)

type scannedBlock struct {
	kind   string
	labels []string
	// header is the range of the type and labels, start and end the offsets of the block.
	header     hcl.Range
	start, end int
	ownArguments
}

// ownArguments is what scanBlocks sees of the arguments of a block, but not of nested ones.
type ownArguments struct {
	// maySetProvider says that there seems to be an argument named "provider".
	maySetProvider bool
	// source is the value of "source" if it is a plain string, and sources the number of arguments that
	// seem to have that name.
	source  string
	sources int
}

// scanBlocks finds the blocks of a file in native syntax without parsing their content, which takes a
// twentieth of the time. It fails at anything unusual. If it succeeds and the file has no syntax errors,
// the parser finds the same blocks.
func scanBlocks(src []byte, filename string) (blocks []scannedBlock, ok bool) {
	if !utf8.Valid(src) {
		return nil, false // the lexer may take such a byte and the blank after it for the beginning of a name
	}
	s := blockScanner{src: src, line: 1}
	for {
		s.space(true)
		if s.pos == len(src) {
			return blocks, true
		}
		b, ok := s.block(filename)
		if !ok {
			return nil, false
		}
		blocks = append(blocks, b)
	}
}

type blockScanner struct {
	src []byte
	pos int
	// line is the number of the line at lineStart.
	line, lineStart int
}

func (s *blockScanner) at(prefix string) bool { return bytes.HasPrefix(s.src[s.pos:], []byte(prefix)) }

// space skips blanks, and outside of blocks also line ends and comments.
func (s *blockScanner) space(outside bool) {
	for s.pos < len(s.src) {
		switch {
		case s.src[s.pos] == ' ' || s.src[s.pos] == '\t':
			s.pos++
		case outside && (s.src[s.pos] == '\n' || s.at("\r\n")):
			s.pos++
		case outside && (s.src[s.pos] == '#' || s.at("//")):
			s.toLineEnd()
		default:
			return
		}
	}
}

func (s *blockScanner) toLineEnd() {
	if i := bytes.IndexByte(s.src[s.pos:], '\n'); i >= 0 {
		s.pos += i
	} else {
		s.pos = len(s.src)
	}
}

// here is only for positions with nothing but ASCII before them in their line.
func (s *blockScanner) here() hcl.Pos {
	s.line += bytes.Count(s.src[s.lineStart:s.pos], []byte("\n"))
	if i := bytes.LastIndexByte(s.src[s.lineStart:s.pos], '\n'); i >= 0 {
		s.lineStart += i + 1
	}
	return hcl.Pos{Line: s.line, Column: s.pos - s.lineStart + 1, Byte: s.pos}
}

func (s *blockScanner) block(filename string) (scannedBlock, bool) {
	start := s.here()
	if len(bytes.Trim(s.src[s.lineStart:s.pos], " \t")) > 0 {
		return scannedBlock{}, false
	}
	kind, ok := s.word()
	if !ok {
		return scannedBlock{}, false
	}
	b := scannedBlock{kind: kind, labels: make([]string, 0, 2), start: start.Byte, header: hcl.Range{Filename: filename, Start: start, End: s.here()}}
	for {
		s.space(false)
		if s.pos == len(s.src) {
			return scannedBlock{}, false
		}
		if s.src[s.pos] == '{' {
			break
		}
		label, ok := s.label()
		if !ok {
			return scannedBlock{}, false
		}
		b.labels = append(b.labels, label)
		b.header.End = s.here()
	}
	s.pos++
	if b.ownArguments, ok = s.body(); !ok {
		return scannedBlock{}, false
	}
	b.end = s.pos
	s.space(false)
	if s.pos < len(s.src) && s.src[s.pos] != '\n' && s.src[s.pos] != '#' && !s.at("\r\n") && !s.at("//") {
		return scannedBlock{}, false
	}
	return b, true
}

func isWordByte(c byte) bool {
	return c == '_' || c == '-' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func (s *blockScanner) word() (string, bool) {
	start := s.pos
	for s.pos < len(s.src) && isWordByte(s.src[s.pos]) {
		s.pos++
	}
	word := s.src[start:s.pos]
	if len(word) == 0 || word[0] == '-' || '0' <= word[0] && word[0] <= '9' {
		return "", false
	}
	return string(word), true
}

// label reads an identifier, or a plain quoted string.
func (s *blockScanner) label() (string, bool) {
	if s.src[s.pos] != '"' {
		return s.word()
	}
	length := bytes.IndexByte(s.src[s.pos+1:], '"')
	if length < 0 {
		return "", false
	}
	text := s.src[s.pos+1 : s.pos+1+length]
	if !isPlain(text) {
		return "", false
	}
	s.pos += length + 2
	return string(text), true
}

// frame is what surrounds the position.
type frame struct {
	kind   byte   // '{', '"' or '<'
	depth  int    // of braces in code
	marker []byte // of a heredoc
}

func (s *blockScanner) body() (seen ownArguments, ok bool) {
	frames := []frame{{kind: '{', depth: 1}}
	for s.pos < len(s.src) {
		f := &frames[len(frames)-1]
		switch f.kind {
		case '"':
			s.skipUntil(&specialInQuoted)
			frames, ok = s.quoted(frames)
		case '<':
			frames, ok = s.heredoc(frames)
		default:
			s.skipUntil(&specialInCode)
			if len(frames) == 1 && f.depth == 1 {
				s.look(&seen)
			}
			frames, ok = s.code(frames)
		}
		if !ok || len(frames) == 0 {
			return seen, ok
		}
	}
	return ownArguments{}, false
}

// The bytes that code and quoted must look at.
var (
	specialInCode   = [256]bool{0: true, '\r': true, '"': true, '#': true, '/': true, '<': true, 'p': true, 's': true, '{': true, '}': true}
	specialInQuoted = [256]bool{0: true, '\r': true, '\n': true, '"': true, '$': true, '%': true, '\\': true}
)

// skipUntil skips to the next special byte. It stops at the last byte of the file.
func (s *blockScanner) skipUntil(special *[256]bool) {
	for s.pos < len(s.src)-1 && !special[s.src[s.pos]] {
		s.pos++
	}
}

// look records the argument that begins here if it matters.
func (s *blockScanner) look(seen *ownArguments) {
	if before := s.src[s.pos-1]; isWordByte(before) || before >= utf8.RuneSelf {
		return
	}
	if _, ok := s.argument("provider"); ok {
		seen.maySetProvider = true
	}
	if value, ok := s.argument("source"); ok {
		seen.sources++
		seen.source = plainString(value)
	}
}

// argument returns the text after the equals sign of an argument that seems to begin here.
func (s *blockScanner) argument(name string) (value []byte, ok bool) {
	if !s.at(name) {
		return nil, false
	}
	rest := bytes.TrimLeft(s.src[s.pos+len(name):], " \t")
	value, found := bytes.CutPrefix(rest, []byte("="))
	isArgument := found && !bytes.HasPrefix(value, []byte("=")) && !bytes.HasPrefix(value, []byte(">"))
	return value, isArgument || bytes.HasPrefix(rest, []byte("/*"))
}

// plainString returns the value of an expression that is a plain string, alone on its line, or "".
func plainString(expr []byte) string {
	text, ok := bytes.CutPrefix(bytes.TrimLeft(expr, " \t"), []byte(`"`))
	end := bytes.IndexByte(text, '"')
	if !ok || end < 0 || !isPlain(text[:end]) {
		return ""
	}
	rest := bytes.TrimLeft(text[end+1:], " \t\r")
	if len(rest) == 0 || rest[0] != '\n' && rest[0] != '#' && !bytes.HasPrefix(rest, []byte("//")) {
		return ""
	}
	return string(text[:end])
}

// isPlain reports whether quoted text is printable ASCII and stands for itself.
func isPlain(text []byte) bool {
	for _, c := range text {
		if c < ' ' || c > '~' || c == '\\' || c == '$' || c == '%' {
			return false
		}
	}
	return true
}

// code skips one byte of code, or enters the string, heredoc or comment that begins here.
func (s *blockScanner) code(frames []frame) ([]frame, bool) {
	f := &frames[len(frames)-1]
	switch s.src[s.pos] {
	case '{':
		f.depth++
	case '}':
		if f.depth--; f.depth == 0 {
			frames = frames[:len(frames)-1]
		}
	case '"':
		frames = append(frames, frame{kind: '"'})
	case '#', '/':
		if isComment, ok := s.comment(); isComment {
			return frames, ok && len(frames) == 1
		}
	case '<':
		if s.at("<<") {
			marker, ok := s.heredocMarker()
			return append(frames, frame{kind: '<', marker: marker}), ok && len(frames) == 1
		}
	case '\r':
		if !s.at("\r\n") {
			return nil, false
		}
	case 0:
		return nil, false
	}
	s.pos++
	return frames, true
}

// comment skips the comment that begins here. It fails if the comment does not end.
func (s *blockScanner) comment() (isComment, ok bool) {
	if s.src[s.pos] == '#' || s.at("//") {
		s.toLineEnd()
		return true, true
	}
	if !s.at("/*") {
		return false, true
	}
	length := bytes.Index(s.src[s.pos+2:], []byte("*/"))
	s.pos += length + 4
	return true, length >= 0
}

// heredocMarker skips the rest of the line in which a heredoc begins.
func (s *blockScanner) heredocMarker() (marker []byte, ok bool) {
	s.pos += 2
	if s.at("-") {
		s.pos++
	}
	word, ok := s.word()
	if !ok || !s.at("\n") && !s.at("\r\n") {
		return nil, false
	}
	s.toLineEnd()
	s.pos++
	return []byte(word), true
}

func (s *blockScanner) quoted(frames []frame) ([]frame, bool) {
	switch c := s.src[s.pos]; c {
	case '"':
		frames = frames[:len(frames)-1]
	case '\\':
		s.pos++
	case '\n', '\r', 0:
		return nil, false
	case '$', '%':
		return s.template(frames)
	}
	s.pos++
	return frames, true
}

// template handles "$" or "%", which may be an escape or begin a template sequence.
func (s *blockScanner) template(frames []frame) ([]frame, bool) {
	if s.pos+2 >= len(s.src) {
		return nil, false
	}
	c, next, third := s.src[s.pos], s.src[s.pos+1], s.src[s.pos+2]
	switch {
	case next == '{':
		s.pos += 2
		return append(frames, frame{kind: '{', depth: 1}), true
	case next == c && third == '{':
		s.pos += 3
		return frames, true
	case next == '$' || next == '%' || next == '\\':
		return nil, false // too rare to repeat the rules of the lexer
	}
	s.pos++
	return frames, true
}

// heredoc skips a part of a heredoc, or the line of its closing marker.
func (s *blockScanner) heredoc(frames []frame) ([]frame, bool) {
	line := s.src[s.pos:]
	if i := bytes.IndexByte(line, '\n'); i >= 0 {
		line = line[:i]
	}
	if bytes.Equal(bytes.Trim(line, " \t\r"), frames[len(frames)-1].marker) {
		if s.src[s.pos-1] != '\n' || bytes.ContainsRune(line, '\r') && !bytes.HasSuffix(line, []byte("\r")) {
			return nil, false // after a template sequence
		}
		s.pos += len(bytes.TrimRight(line, "\r"))
		return frames[:len(frames)-1], true
	}
	special := bytes.IndexFunc(line, func(r rune) bool { return r == '$' || r == '%' || r == 0 })
	if special < 0 {
		s.pos = min(s.pos+len(line)+1, len(s.src))
		return frames, true
	}
	s.pos += special
	if s.src[s.pos] == 0 {
		return nil, false
	}
	return s.template(frames)
}

func (b scannedBlock) text(src []byte) []byte { return src[b.start:b.end] }
