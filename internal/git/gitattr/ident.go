package gitattr

import "bytes"

// Git replaces "$Id$" in two ways, which differ if there is something unusual around it: files with neither
// text=auto nor an encoding are scanned byte by byte, others are searched. "$Id: ...$" is also replaced, unless it seems
// to come from another system.

// expandIdent never takes the byte after another "$" as a beginning, so "$$Id$" stays.
func expandIdent(content []byte, id string) []byte {
	const keyword = "$Id"
	var out []byte
	for i := 0; i < len(content); {
		matched := 0
		for matched < len(keyword) && i+matched < len(content) && content[i+matched] == keyword[matched] {
			matched++
		}
		next := i + matched
		switch {
		case next >= len(content):
		case matched < len(keyword), content[next] != '$' && content[next] != ':':
			next++
		case content[next] == '$':
			out, next = appendIdent(out, id), next+1
			i = next
		default:
			end := bytes.IndexAny(content[next:], "$\n")
			if end < 0 {
				next = len(content)
				break
			}
			next += end + 1
			if content[next-1] == '$' && !isForeign(content[i:next]) {
				out = appendIdent(out, id)
				i = next
			}
		}
		out = append(out, content[i:next]...)
		i = next
	}
	return out
}

// isForeign reports whether the value has a blank that is not at its end.
func isForeign(keyword []byte) bool {
	value, ok := bytes.CutPrefix(keyword, []byte("$Id: "))
	if !ok {
		return false
	}
	value, _, _ = bytes.Cut(value, []byte{0}) // git treats it as a C string
	for i, c := range value {
		if bytes.IndexByte([]byte(blanks), c) >= 0 && (i+1 == len(value) || value[i+1] != '$') {
			return true
		}
	}
	return false
}

func expandIdentWhole(content []byte, id string) []byte {
	var out []byte
	for rest := content; ; {
		dollar := bytes.IndexByte(rest, '$')
		if dollar < 0 {
			return append(out, rest...)
		}
		end := keywordEnd(rest[dollar:])
		if end == 0 {
			out = append(out, rest[:dollar+1]...)
			rest = rest[dollar+1:]
			continue
		}
		out = appendIdent(append(out, rest[:dollar]...), id)
		rest = rest[dollar+end:]
	}
}

// keywordEnd returns the length of a keyword to replace; 0 if there is none.
func keywordEnd(text []byte) int {
	value, ok := bytes.CutPrefix(text, []byte("$Id"))
	switch {
	case !ok || len(value) == 0:
		return 0
	case value[0] == '$':
		return len("$Id$")
	case value[0] != ':':
		return 0
	}
	end := bytes.IndexAny(value[1:], "$\n")
	if end < 0 || value[1+end] == '\n' {
		return 0
	}
	// A blank after the first byte must be the last.
	if blank := bytes.IndexByte(value[min(2, 1+end):1+end], ' '); blank >= 0 && 2+blank < end {
		return 0
	}
	return len("$Id:") + end + len("$")
}

func appendIdent(out []byte, id string) []byte {
	out = append(out, "$Id: "...)
	out = append(out, id...)
	return append(out, " $"...)
}
