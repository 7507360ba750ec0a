package configread

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"unicode/utf8"

	"github.com/apparentlymart/go-textseg/v15/textseg"
	"github.com/hashicorp/hcl/v2"
)

// reducedAbove is the size in bytes above which not all of a file is parsed. Programs write such files, and
// nearly all of them describes resources, of which only the providers matter.
const reducedAbove = 64 << 10

// reduceJSON replaces the arguments of resources by blanks, except for "provider", so that everything else has the
// same position in the result. It returns src itself if that is not valid: the parser reports why. That includes other
// text than UTF-8, in which HCL's scanner may take the quote at the end of a string for a part of it.
func reduceJSON(src []byte) []byte {
	if !json.Valid(src) || !utf8.Valid(src) {
		return src
	}
	r := jsonReducer{src: src, out: bytes.Clone(src)}
	r.space()
	r.file()
	if r.ambiguous {
		return src
	}
	return r.out
}

// A jsonReducer reads valid JSON.
type jsonReducer struct {
	src, out []byte
	pos      int
	// ambiguous says that HCL's scanner would not end a string at its quote, because it takes the quote, or the backslash
	// before a quote, for a part of the character before it.
	ambiguous bool
}

func (r *jsonReducer) space() {
	for r.pos < len(r.src) && r.src[r.pos] <= ' ' {
		r.pos++
	}
}

// file reads the body of a file, which may be a list of objects.
func (r *jsonReducer) file() {
	r.elements(r.file, func(kind []byte, _ int) {
		if resourceKinds[string(kind)] {
			r.blocks(2)
		} else {
			r.skip()
		}
	})
}

// blocks reads the blocks of one type below as many labels. Each level may be a list, of objects.
func (r *jsonReducer) blocks(labels int) {
	if labels == 0 {
		r.body()
		return
	}
	r.elements(func() { r.blocks(labels) }, func([]byte, int) { r.blocks(labels - 1) })
}

var providerKey = []byte("provider")

func (r *jsonReducer) body() {
	comma, kept := -1, false // the comma before the member, and whether one before it is kept
	r.elements(r.body, func(key []byte, start int) {
		r.skip()
		switch {
		case !bytes.Equal(key, providerKey) && bytes.IndexByte(key, '\\') < 0:
			r.blank(start, r.pos)
		case kept:
			r.out[comma] = ','
		default:
			kept = true
		}
		r.space()
		if r.src[r.pos] == ',' {
			comma = r.pos
			r.blank(comma, comma+1)
		}
	})
}

func (r *jsonReducer) blank(start, end int) {
	for i := start; i < end; i++ {
		if r.out[i] != '\n' && r.out[i] != '\r' {
			r.out[i] = ' '
		}
	}
}

// elements reads an object, of which member reads each value, or a list, of which element does. The key is as
// written, without quotes, and start its offset. Other values are skipped.
func (r *jsonReducer) elements(element func(), member func(key []byte, start int)) {
	opening := r.src[r.pos]
	if opening != '{' && opening != '[' {
		r.skip()
		return
	}
	r.pos++
	for r.space(); r.src[r.pos] != opening+2; r.space() { // the closing bracket
		switch {
		case r.src[r.pos] == ',':
			r.pos++
		case opening == '[':
			element()
		default:
			start := r.pos
			key := r.text()
			r.space()
			r.pos++ // the colon
			r.space()
			member(key, start)
		}
	}
	r.pos++
}

// skip reads any value.
func (r *jsonReducer) skip() {
	for depth := 0; r.pos < len(r.src); {
		switch r.src[r.pos] {
		case '"':
			r.text()
		case '{', '[':
			depth++
			r.pos++
		case '}', ']':
			if depth == 0 {
				return
			}
			depth--
			r.pos++
		case ',':
			if depth == 0 {
				return
			}
			r.pos++
		default:
			r.pos++
		}
		if depth == 0 && (r.src[r.pos-1] == '"' || r.src[r.pos-1] == '}' || r.src[r.pos-1] == ']') {
			return
		}
	}
}

// text reads a string and returns what is between its quotes.
func (r *jsonReducer) text() []byte {
	start := r.pos + 1
	for end := start; ; end++ {
		end += bytes.IndexByte(r.src[end:], '"')
		escapes := 0
		for r.src[end-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 1 {
			continue
		}
		r.pos = end + 1
		text := r.src[start:end]
		r.ambiguous = r.ambiguous || joins(r.src[start:r.pos])
		for i, c := range text {
			r.ambiguous = r.ambiguous || c == '\\' && joins(text[:i+1])
		}
		return text
	}
}

// joins reports whether HCL's scanner takes the last byte of a text for a part of the character before it.
func joins(text []byte) bool {
	end := len(text) - 1
	last, size := utf8.DecodeLastRune(text[:end])
	if size == 0 || last < utf8.RuneSelf {
		return false
	}
	cluster, _, _ := textseg.ScanGraphemeClusters(text[end-size:], true) // cannot fail
	return cluster > size
}

// parseBlocks parses the blocks of some types in a large file in native syntax. It fails if the file is small, or so
// unusual that all of it must be parsed.
func parseBlocks(ctx context.Context, src []byte, f file, display string, types ...[]byte) (body hcl.Body, diags hcl.Diagnostics, ok bool) {
	if f.json || len(src) <= reducedAbove {
		return nil, nil, false
	}
	blocks, ok := scanBlocks(src, display)
	if !ok {
		return nil, nil, false
	}
	var bodies []hcl.Body
	for _, b := range blocks {
		if !containsWord(types, b.kind) {
			continue
		}
		found, blockDiags := parse(ctx, b.text(src), display, false, b.header.Start)
		diags = append(diags, blockDiags...)
		if found != nil {
			bodies = append(bodies, found)
		}
	}
	return hcl.MergeBodies(bodies), diags, true
}

func containsWord(words [][]byte, kind string) bool {
	return slices.ContainsFunc(words, func(word []byte) bool { return string(word) == kind })
}
