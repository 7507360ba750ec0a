package wildmatch

import "strings"

// Pattern is a file name or, with a slash, a path relative to the file that has the pattern.
type Pattern struct {
	isName bool
	// prefix precedes the first special character.
	prefix string
	tokens []token
	// isSuffix is set for "*" and suffix, as in "*.tf".
	isSuffix bool
	suffix   string
	never    bool
}

type token struct {
	kind tokenKind
	char byte
	set  *[256]bool
}

type tokenKind uint8

const (
	isChar    tokenKind = iota
	isAny               // "?": any character except a slash
	isClass             // "[...]": never a slash
	isStar              // "*": any number of characters except slashes
	isAll               // "**" at a position at which it may match slashes
	isAnyDirs           // precedes isAll and the slash of a "**/", which may match nothing
)

const special = `*?[\`

// Parse accepts any text: a malformed pattern matches nothing.
func Parse(text string) Pattern {
	p := Pattern{isName: !strings.Contains(text, "/")}
	text = strings.TrimPrefix(text, "/")
	end := strings.IndexAny(text, special)
	if end < 0 {
		p.prefix = text
		return p
	}
	p.prefix = text[:end]
	p.tokens, p.never = parseTokens(text[end:])
	if suffix := text[end+1:]; p.isName && text[end] == '*' && !strings.ContainsAny(suffix, special) {
		p.isSuffix, p.suffix = true, suffix
	}
	return p
}

// parseTokens begins at the first special character, where the pattern begins for "**", as in git.
func parseTokens(text string) (tokens []token, malformed bool) {
	for i := 0; i < len(text); {
		switch text[i] {
		case '?':
			tokens = append(tokens, token{kind: isAny})
			i++
		case '*':
			stars, next := parseStars(text, i)
			tokens = append(tokens, stars...)
			i = next
		case '[':
			set, next, ok := parseClass(text, i)
			if !ok {
				return nil, true
			}
			tokens = append(tokens, token{kind: isClass, set: set})
			i = next
		case '\\':
			if i++; i == len(text) {
				return nil, true
			}
			fallthrough
		default:
			tokens = append(tokens, token{kind: isChar, char: text[i]})
			i++
		}
	}
	return tokens, false
}

// parseStars lets "**" match slashes if only slashes or the ends of the pattern are next to it.
func parseStars(text string, start int) (stars []token, next int) {
	next = start
	for next < len(text) && text[next] == '*' {
		next++
	}
	rest := text[next:]
	switch {
	case next-start == 1, start > 0 && text[start-1] != '/':
		return []token{{kind: isStar}}, next
	case strings.HasPrefix(rest, "/"):
		return []token{{kind: isAnyDirs}, {kind: isAll}}, next
	case rest == "", strings.HasPrefix(rest, `\/`):
		return []token{{kind: isAll}}, next
	}
	return []token{{kind: isStar}}, next
}

// Matches is for a name without a slash at its ends, relative to the file that has the pattern.
func (p Pattern) Matches(name string, m *Matcher) bool {
	m.Steps++
	if p.isName {
		name = name[strings.LastIndexByte(name, '/')+1:]
	}
	rest, ok := strings.CutPrefix(name, p.prefix)
	if !ok || p.never {
		return false
	}
	if p.isSuffix {
		return strings.HasSuffix(rest, p.suffix)
	}
	return m.match(p.tokens, rest)
}

// Matcher follows all alternatives at once, so the time is bounded by the product of the lengths. It can be reused.
type Matcher struct {
	// Steps is the work so far, for callers that limit it.
	Steps int
	// current has the tokens that may match the next byte, next those for the one after it.
	current, next []int
	// added has the last position, from 1, for which a token was added.
	added []int
}

func (m *Matcher) match(tokens []token, text string) bool {
	m.added = append(m.added[:0], make([]int, len(tokens)+1)...)
	m.next = m.next[:0]
	m.add(tokens, 0, 1)
	for i := range len(text) {
		m.current, m.next = m.next, m.current[:0]
		if len(m.current) == 0 {
			return false
		}
		for _, at := range m.current {
			m.Steps++
			switch t := tokens[at]; {
			case t.kind == isAll, t.kind == isStar && text[i] != '/':
				m.add(tokens, at, i+2)
			case t.kind != isStar && t.matches(text[i]):
				m.add(tokens, at+1, i+2)
			}
		}
	}
	return m.added[len(tokens)] == len(text)+1
}

// add also adds the tokens after one that can match nothing.
func (m *Matcher) add(tokens []token, at, position int) {
	if m.added[at] == position {
		return
	}
	m.added[at] = position
	if at == len(tokens) {
		return
	}
	switch tokens[at].kind {
	case isAnyDirs:
		m.add(tokens, at+1, position)
		m.add(tokens, at+3, position)
		return
	case isStar, isAll:
		m.add(tokens, at+1, position)
	}
	m.next = append(m.next, at)
}

func (t token) matches(c byte) bool {
	switch t.kind {
	case isAny:
		return c != '/'
	case isClass:
		return c != '/' && t.set[c]
	}
	return c == t.char
}
