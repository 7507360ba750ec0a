package lockfile

import (
	"bytes"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cotterpin/cotter/addrs"
)

// providerEdits returns the changes to provider blocks.
func (f *File) providerEdits() []edit {
	if !f.rewritesProviders {
		return f.providerEditsInPlace()
	}
	var edits []edit
	if !startsWithComment(f.src) {
		start := len(f.src) - len(bytes.TrimPrefix(f.src, byteOrderMark))
		edits = append(edits, edit{span: span{start, start}, text: f.header(), separate: true})
	}
	if slices.IsSortedFunc(f.providerBlocks, (*providerBlock).compare) {
		return append(edits, f.providerEditsInPlace()...)
	}
	return append(edits, f.providerEditsMoved()...)
}

// startsWithComment reports whether the first line with text, if there is one, is a comment.
func startsWithComment(src []byte) bool {
	text := bytes.TrimSpace(bytes.TrimPrefix(src, byteOrderMark))
	return len(text) == 0 || text[0] == '#' || text[0] == '/'
}

func (b *providerBlock) compare(other *providerBlock) int {
	return b.provider.Address.Compare(other.provider.Address)
}

// providerEditsInPlace changes provider blocks in place, and inserts each new block after the
// last block that sorts before it.
func (f *File) providerEditsInPlace() []edit {
	var edits []edit
	for _, b := range f.providerBlocks {
		if _, kept := f.providers[b.provider.Address]; !kept {
			edits = append(edits, edit{span: f.cut(b.span)})
		}
	}
	for _, e := range f.sortedProviders() {
		switch {
		case e.block == nil:
			at := f.providerInsertionPoint(e.provider.Address)
			edits = append(edits, edit{span: span{at, at}, text: e.render(), separate: true})
		case f.textOf(e) != f.at(e.block.span):
			edits = append(edits, edit{span: e.block.span, text: f.textOf(e)})
		}
	}
	return edits
}

// providerEditsMoved sorts the provider blocks. It moves the comments above a block together
// with the block, except for a comment at the start of the file. The comments above a block
// that is removed stay.
func (f *File) providerEditsMoved() []edit {
	var edits []edit
	above := make(map[addrs.Provider]string)
	for _, b := range f.providerBlocks {
		cut := f.cut(b.span)
		_, kept := f.providers[b.provider.Address]
		if start := leadStart(f.src, b.start); kept && start > 0 {
			cut.start = start
			above[b.provider.Address] = string(f.src[start:b.start])
		}
		edits = append(edits, edit{span: cut})
	}
	at := edits[0].start
	for _, e := range f.sortedProviders() {
		edits = append(edits, edit{span: span{at, at}, text: above[e.provider.Address] + f.textOf(e), separate: true})
	}
	return edits
}

// textOf returns the new text of a provider's block.
func (f *File) textOf(e *providerEntry) string {
	if e.block == nil || e.changed() {
		return e.render()
	}
	was := f.at(e.block.span)
	keeps := slices.Equal(e.block.provider.Hashes, uniqueHashes(e.provider.Hashes)) && hasComment(was)
	if !f.rewritesProviders || keeps {
		return was
	}
	return e.render()
}

// hasComment reports whether there is a comment in a block.
func hasComment(block string) bool {
	tokens, _ := hclsyntax.LexConfig([]byte(block), "", hcl.InitialPos)
	return slices.ContainsFunc(tokens, func(token hclsyntax.Token) bool { return token.Type == hclsyntax.TokenComment })
}

// providerInsertionPoint returns the offset for a new block.
func (f *File) providerInsertionPoint(address addrs.Provider) int {
	for _, b := range slices.Backward(f.providerBlocks) {
		if b.provider.Address.Compare(address) < 0 {
			return lineEnd(f.src, b.end)
		}
	}
	if len(f.providerBlocks) > 0 {
		return leadStart(f.src, f.providerBlocks[0].start)
	}
	return len(f.src)
}
