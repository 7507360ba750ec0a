package configread

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"unicode/utf8"

	"github.com/apparentlymart/go-textseg/v15/textseg"
	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/internal/text/jsonkeys"
)

// reducedAbove is the size in bytes above which not all of a file is parsed. Programs write such files, and
// nearly all of them describes resources, of which only the providers matter.
const reducedAbove = 64 << 10

// reduceJSON replaces the arguments of resources by blanks, except for "provider", so that everything else has the
// same position in the result. It returns src itself if that is not valid: the parser reports why. It also does for text
// in which HCL's scanner may not end a string at its quote, because it takes the quote, or the backslash before one, for a
// part of the character before it. That includes all text that is not UTF-8.
func reduceJSON(src []byte) []byte {
	if !json.Valid(src) || !utf8.Valid(src) {
		return src
	}
	for i, c := range src {
		if c >= utf8.RuneSelf && (src[i+1] == '"' || src[i+1] == '\\') && joins(src[:i+2]) { // it is in a string
			return src
		}
	}
	r := jsonReducer{jsonkeys.Scanner{Text: src}, bytes.Clone(src)}
	r.Next()
	r.file()
	return r.out
}

type jsonReducer struct {
	jsonkeys.Scanner
	out []byte
}

// file reads the body of a file, which may be a list of objects.
func (r *jsonReducer) file() {
	r.elements(r.file, func(kind []byte, _ int) {
		if resourceKinds[string(kind)] {
			r.blocks(2)
		} else {
			r.Skip()
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
		r.Skip()
		switch {
		case !bytes.Equal(key, providerKey) && bytes.IndexByte(key, '\\') < 0:
			r.blank(start, r.At)
		case kept:
			r.out[comma] = ','
		default:
			kept = true
		}
		r.Next()
		if r.Text[r.At] == ',' {
			comma = r.At
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
	opening := r.Text[r.At]
	if opening != '{' && opening != '[' {
		r.Skip()
		return
	}
	for r.At++; r.More(); {
		if opening == '[' {
			element()
			continue
		}
		start := r.At
		key := r.Key()
		r.Next()
		member(key[1:len(key)-1], start)
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
