package lockfile

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cotterpin/cotter/addrs"
)

// mergeProviders returns f with merged provider blocks. A block that only one side changed
// is copied as bytes, so blocks with errors are merged as well. If the merge changes provider
// blocks and there are no conflicts or errors, all of them are written as stock tools write
// them, so that the next init does not write the file again.
func (f *File) mergeProviders(base, theirs *File) (*File, []Conflict) {
	var conflicts []Conflict
	var edits []edit
	was, our, their := base.providerSpans(), f.providerSpans(), theirs.providerSpans()
	all := maps.Clone(was)
	maps.Copy(all, our)
	maps.Copy(all, their)
	for _, label := range slices.SortedFunc(maps.Keys(all), compareLabels) {
		w, o, t := base.at(was[label]), f.at(our[label]), theirs.at(their[label])
		if o == t || t == w {
			continue
		}
		if o != w {
			if both, ok := f.mergeProvider(base, theirs, label, our[label], their[label]); ok {
				if both != o {
					edits = append(edits, edit{span: our[label], text: both})
				}
				continue
			}
			conflicts = append(conflicts, Conflict{"provider", label})
			if o != "" {
				continue
			}
			// Add a block for the markers to replace.
		}
		switch {
		case o == "":
			at := f.providerOffset(our, label)
			edits = append(edits, edit{span: span{at, at}, text: t + "\n", separate: true})
		case t == "":
			edits = append(edits, edit{span: f.cut(our[label])})
		default:
			edits = append(edits, edit{span: our[label], text: t})
		}
	}
	if len(edits) == 0 {
		return f.reparse(f.src), conflicts
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Compare(a.start, b.start) })
	merged := f.reparse(splice(f.src, edits))
	merged.rewritesProviders = len(conflicts) == 0 && len(merged.providerFaults) == 0
	return merged, conflicts
}

// mergeProvider merges a block that both sides changed in different ways. It fails if one
// side does not have the block, if one block cannot be read, or if both sides selected
// different new versions.
func (f *File) mergeProvider(base, theirs *File, label string, ourPlace, theirPlace span) (text string, ok bool) {
	address, err := parseProviderLabel(label)
	if err != nil {
		return "", false
	}
	our, have := f.providerBy[address]
	their, has := theirs.providerBy[address]
	if !have || !has || our.span != ourPlace || their.span != theirPlace { // of duplicate blocks only one is read
		return "", false
	}
	was := &providerBlock{}
	if b, ok := base.providerBy[address]; ok {
		was = b
	}
	merged := &providerEntry{provider: our.provider, block: our}
	switch {
	case our.provider.Version == their.provider.Version:
		merged.provider.Hashes = append(slices.Clone(our.provider.Hashes), their.provider.Hashes...)
		if our.provider.Constraints == was.provider.Constraints {
			merged.provider.Constraints = their.provider.Constraints
		}
	case our.provider.Version == was.provider.Version:
		return theirs.at(their.span), true
	case their.provider.Version != was.provider.Version:
		return "", false
	}
	switch {
	case !merged.changed():
		return f.at(our.span), true
	case merged.provider.Equal(their.provider):
		return theirs.at(their.span), true
	}
	return merged.render(), true
}

// providerOffset returns the offset at which to insert a provider block: before the next
// block in the order of addresses, or at the end of the file.
func (f *File) providerOffset(blocks map[string]span, label string) int {
	for _, other := range slices.SortedFunc(maps.Keys(blocks), compareLabels) {
		if compareLabels(other, label) > 0 {
			return lineStart(f.src, blocks[other].start)
		}
	}
	return len(f.src)
}

// compareLabels orders labels as [addrs.Provider.Compare] orders addresses. It also accepts
// labels that are not addresses.
func compareLabels(a, b string) int {
	return cmp.Or(slices.Compare(labelParts(a), labelParts(b)), strings.Compare(a, b))
}

func labelParts(label string) []string {
	parts := strings.Split(label, "/")
	if host, err := addrs.ParseHostname(parts[0]); err == nil {
		parts[0] = string(host)
	}
	return parts
}

// providerSpans maps the labels of the provider blocks to their spans.
func (f *File) providerSpans() map[string]span {
	blocks := map[string]span{}
	// An empty file has no blocks, and other files have been parsed before.
	_ = eachBody(f.src, "", pieceSize, func() func(*hclsyntax.Body) {
		clear(blocks)
		return func(body *hclsyntax.Body) {
			for _, b := range body.Blocks {
				if b.Type == "provider" && len(b.Labels) == 1 {
					blocks[b.Labels[0]] = spanOf(b)
				}
			}
		}
	})
	return blocks
}
