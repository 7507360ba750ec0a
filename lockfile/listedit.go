package lockfile

import (
	"bytes"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cotterpin/cotter/hashing"
)

// listEdit changes the list of hashes in a block. Hashes that stay keep their places, lines and comments.
type listEdit struct {
	*blockEdit
	list *hclsyntax.TupleConsExpr
}

// element is a hash in the source of a list.
type element struct {
	span
	hash  hashing.Hash
	after int // the offset after the comma that follows, or else after the hash
}

func (e element) hasComma() bool { return e.after > e.end }

// set edits the list. The only hash of a scheme is replaced in its place; others are removed, or added in order.
func (e *listEdit) set(updated []hashing.Hash) {
	old, inOld := e.elements(), map[hashing.Hash]bool{}
	schemes, now := map[string]int{}, map[string]int{}
	for _, element := range old {
		inOld[element.hash] = true
		schemes[element.hash.Scheme()]++
	}
	var added []hashing.Hash
	isKept, only := map[hashing.Hash]bool{}, map[string]hashing.Hash{}
	for _, h := range updated {
		isKept[h], only[h.Scheme()] = true, h
		now[h.Scheme()]++
	}
	for _, h := range updated {
		if !inOld[h] && (schemes[h.Scheme()] != 1 || now[h.Scheme()] != 1) {
			added = append(added, h)
		}
	}
	var kept, gone []element
	for _, element := range old {
		scheme := element.hash.Scheme()
		switch {
		case isKept[element.hash]:
		case schemes[scheme] == 1 && now[scheme] == 1:
			element.hash = only[scheme]
			e.replace(element.span, quote(string(element.hash)))
		default:
			gone = append(gone, element)
			continue
		}
		kept = append(kept, element)
	}
	all := spanIn(e.list.Range())
	switch {
	case len(added)+len(gone) == 0:
	case len(kept) == 0:
		at, _ := e.find("hashes")
		e.replace(all, hashList(updated, e.indent(at.start)))
	case !bytes.ContainsAny(e.src[all.start:all.end], "\n#*"): // in one line, without comments
		e.setLine(all, old, kept, added)
	default:
		for _, element := range gone {
			e.drop(element)
		}
		e.add(kept, added)
	}
}

// elements returns the hashes in the source.
func (e *listEdit) elements() []element {
	p := parser{src: e.src}
	elements := make([]element, len(e.list.Exprs))
	for i, expr := range e.list.Exprs {
		at := spanIn(expr.Range())
		elements[i] = element{span: at, hash: hashing.Hash(p.str(expr)), after: afterComma(e.src, at.end)}
	}
	return elements
}

// afterComma returns the offset after a comma, if only blanks and comments are in front of it, or else the offset.
func afterComma(src []byte, offset int) int {
	rest := src[offset:]
	for {
		rest = bytes.TrimLeft(rest, " \t\r\n")
		end := "\n"
		switch {
		case bytes.HasPrefix(rest, []byte(",")):
			return len(src) - len(rest) + 1
		case bytes.HasPrefix(rest, []byte("/*")):
			end = "*/"
		case !bytes.HasPrefix(rest, []byte("#")) && !bytes.HasPrefix(rest, []byte("//")):
			return offset
		}
		_, rest, _ = bytes.Cut(rest, []byte(end))
	}
}

// behind returns which hashes are added in front of all elements that stay, and behind each of them: behind the
// last one that sorts before a hash.
func behind(kept []element, added []hashing.Hash) [][]hashing.Hash {
	groups := make([][]hashing.Hash, len(kept)+1)
	last := 0
	for _, h := range added { // sorted
		for i := last; i < len(kept); i++ {
			if kept[i].hash < h {
				last = i + 1
			}
		}
		groups[last] = append(groups[last], h)
	}
	return groups
}

// setLine writes a list in one line, with the separator and the blanks inside of the brackets that it had.
func (e *listEdit) setLine(all span, old, kept []element, added []hashing.Hash) {
	separator := ", "
	if len(old) > 1 {
		separator = string(e.src[old[0].end:old[1].start])
	}
	var texts []string
	for i, hashes := range behind(kept, added) {
		if i > 0 {
			texts = append(texts, quote(string(kept[i-1].hash)))
		}
		for _, h := range hashes {
			texts = append(texts, quote(string(h)))
		}
	}
	e.edits = slices.DeleteFunc(e.edits, func(other edit) bool { return all.start < other.start && other.end < all.end })
	e.replace(all, string(e.src[all.start:old[0].start])+strings.Join(texts, separator)+string(e.src[old[len(old)-1].end:all.end]))
}

// drop removes an element with its comma, and its line if nothing else is there.
func (e *listEdit) drop(gone element) {
	at := span{lineStart(e.src, gone.start), gone.after}
	if gone.hasComma() && len(bytes.TrimSpace(e.src[gone.end:gone.after-1])) > 0 { // a comment is in front of it
		at.end = gone.end
		e.edits = append(e.edits, edit{span: span{gone.after - 1, gone.after}})
	}
	rest := e.src[at.end:]
	line := rest[:bytes.IndexByte(rest, '\n')+1]
	isAlone := at.start < gone.start || at.start == 0 || e.src[at.start-1] == '\n'
	if isAlone && len(bytes.TrimSpace(line)) == 0 {
		at.end += len(line)
	} else {
		at.start = len(bytes.TrimRight(e.src[:gone.start], " \t"))
	}
	e.edits = append(e.edits, edit{span: at})
}

// add inserts hashes. Those behind an element that ends its line get lines of their own.
func (e *listEdit) add(kept []element, added []hashing.Hash) {
	for i, hashes := range behind(kept, added) {
		if len(hashes) == 0 {
			continue
		}
		near := kept[max(i-1, 0)]
		start := lineStart(e.src, near.start)
		indent := string(e.src[start:near.start])
		lines, inLine := "", ""
		for _, h := range hashes {
			lines += indent + quote(string(h)) + ",\n"
			inLine += quote(string(h)) + ", "
		}
		end := lineEnd(e.src, near.after)
		switch {
		case i == 0 && start > 0 && e.src[start-1] == '\n':
			at := leadStart(e.src, near.start)
			e.replace(span{at, at}, lines)
		case i == 0:
			e.replace(span{near.start, near.start}, inLine)
		case end > near.after && near.hasComma():
			e.replace(span{end, end}, lines)
		case end > near.after:
			e.replace(span{near.end, near.end}, ",")
			e.replace(span{end, end}, strings.TrimSuffix(lines, ",\n")+"\n")
		case near.hasComma():
			e.replace(span{near.after, near.after}, " "+strings.TrimSuffix(inLine, " "))
		default:
			e.replace(span{near.end, near.end}, ", "+strings.TrimSuffix(inLine, ", "))
		}
	}
}
