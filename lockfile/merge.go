package lockfile

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
)

// Conflict is a block that both sides of a merge changed in different ways.
type Conflict struct {
	// Type is "module", "provider", or "other" if the sides differ outside of these blocks: then there is
	// no other conflict, and Label is "".
	Type string
	// Label is the key of the module call, or the provider's address.
	Label string
	// OurModule and TheirModule are nil if the side has removed the module.
	OurModule, TheirModule *Module
	// OurProvider and TheirProvider are nil if the side has removed it, or its block cannot be read.
	OurProvider, TheirProvider *Provider
}

// Side is a side of a merge.
type Side int

// The sides of a merge, and Neither if a conflict is left.
const (
	Neither Side = iota
	Ours
	Theirs
)

// Merge merges two lock files with the common ancestor base, which may be empty. A nil *File is an empty
// one. A block that only one side changed is taken from that side. If both changed a provider without
// selecting different versions, and its blocks have a hash in common, the result has the hashes of both:
// those of one release, for several platforms. Comments, the order and the line end are those of ours. If
// there is nothing to merge, the result is ours byte for byte.
//
// No tool writes a lock with arguments or other blocks. If both sides changed such a file, and differ
// outside of the blocks of modules and providers, comments included, then the files conflict as a whole.
//
// resolve, which may be nil, says from which side the block of a conflict is taken, unless the files
// conflict as a whole. For each conflict that is left, the result has both blocks between git's conflict
// markers, and no tool can read it.
func Merge(base, ours, theirs *File, resolve func(Conflict) Side) (merged []byte, conflicts []Conflict) {
	if resolve == nil {
		resolve = func(Conflict) Side { return Neither }
	}
	ours = ours.orEmpty()
	base, theirs = base.orEmpty().withNewline(newline(ours.src)), theirs.orEmpty().withNewline(newline(ours.src))
	if merged, conflicts, ok := ours.mergeRest(base, theirs); ok {
		return merged, conflicts
	}
	result, conflicts := ours.mergeProviders(base, theirs, resolve)
	for _, key := range union(base.modules.entries, ours.modules.entries, theirs.modules.entries) {
		our, their := ours.modules.entries[key], theirs.modules.entries[key]
		taken := winner(base.modules.entries[key], our, their, sameModule)
		if taken == Neither {
			c := Conflict{Type: "module", Label: key, OurModule: moduleOf(our), TheirModule: moduleOf(their)}
			if taken = resolve(c); taken == Neither {
				conflicts = append(conflicts, c)
			}
		}
		switch {
		case taken == Theirs && their == nil:
			result.RemoveModule(key)
		case taken == Theirs, taken == Neither && our == nil: // or a block for the markers to replace
			result.SetModule(*their.value)
		}
	}
	slices.SortFunc(conflicts, func(a, b Conflict) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Label, b.Label))
	})
	return markConflicts(result.Bytes(), conflicts, ours, theirs), conflicts
}

func moduleOf(e *entry[*Module]) *Module {
	if e == nil {
		return nil
	}
	return e.value.normalized()
}

func (f *File) mergeRest(base, theirs *File) (merged []byte, conflicts []Conflict, ok bool) {
	if f.rest() == theirs.rest() {
		return nil, nil, false
	}
	switch winner(base, f, theirs, func(a, b *File) bool { return bytes.Equal(a.src, b.src) }) {
	case Ours:
		return bytes.Clone(f.src), nil, true
	case Theirs:
		return bytes.Clone(theirs.src), nil, true
	}
	ours, other := strings.TrimRight(string(f.src), "\r\n"), strings.TrimRight(string(theirs.src), "\r\n")
	return []byte(withNewline(conflictText(ours, other)+"\n", newline(f.src))), []Conflict{{Type: "other"}}, true
}

func (f *File) rest() string {
	merged := slices.SortedFunc(maps.Values(f.blockSpans()), func(a, b span) int { return cmp.Compare(a.start, b.start) })
	if f.items == len(merged) {
		return ""
	}
	var gaps []string
	at := 0
	for _, s := range append(merged, span{len(f.src), len(f.src)}) {
		if gap := strings.TrimSpace(string(f.src[at:s.start])); gap != "" {
			gaps = append(gaps, gap)
		}
		at = s.end
	}
	return strings.Join(gaps, "\n")
}

// winner returns the side from which a block is taken, or Neither for a conflict.
func winner[T any](base, ours, theirs T, same func(a, b T) bool) Side {
	switch {
	case same(ours, theirs), same(theirs, base):
		return Ours
	case same(ours, base):
		return Theirs
	}
	return Neither
}

func sameModule(a, b *entry[*Module]) bool {
	return (a == nil) == (b == nil) && (a == nil || a.value.equals(b.value))
}

func union[V any](sides ...map[string]V) []string {
	all := map[string]bool{}
	for _, side := range sides {
		for key := range side {
			all[key] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// mergeProviders merges provider blocks as bytes, so blocks with errors as well. If that changes any, and
// there are no conflicts or errors, all are written as stock tools do, so that the next init does not write
// the file again.
func (f *File) mergeProviders(base, theirs *File, resolve func(Conflict) Side) (*File, []Conflict) {
	var conflicts []Conflict
	var edits []edit
	was, our, their := base.providerSpans(), f.providerSpans(), theirs.providerSpans()
	labels := union(was, our, their)
	slices.SortFunc(labels, compareLabels)
	for _, label := range labels {
		o, t := f.at(our[label]), theirs.at(their[label])
		taken := winner(base.at(was[label]), o, t, func(a, b string) bool { return a == b })
		if taken == Neither {
			if both, ok := f.mergeProvider(base, theirs, label, our[label], their[label]); ok {
				if both != o {
					edits = append(edits, edit{span: our[label], text: both})
				}
				continue
			}
			c := Conflict{Type: "provider", Label: label, OurProvider: f.readProvider(our[label]), TheirProvider: theirs.readProvider(their[label])}
			if taken = resolve(c); taken == Neither {
				conflicts = append(conflicts, c)
			}
		}
		if taken == Ours || taken == Neither && o != "" {
			continue
		}
		switch { // theirs, or a block for the markers to replace
		case o == "":
			at := f.providerOffset(our, label)
			edits = append(edits, edit{span: span{at, at}, text: t + newline(f.src), separate: true})
		case t == "":
			edits = append(edits, edit{span: cut(f.src, our[label])})
		default:
			edits = append(edits, edit{span: our[label], text: t})
		}
	}
	if len(edits) == 0 {
		return f.reparse(f.src), conflicts
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Compare(a.start, b.start) })
	merged := f.reparse(splice(f.src, edits))
	merged.providers.rewritten = len(conflicts) == 0 && len(merged.providerFaults) == 0
	return merged, conflicts
}

// mergeProvider merges a block that both sides changed. It fails if a side lacks it or cannot be read, or
// if they selected different new versions, or one version with no hash in common.
func (f *File) mergeProvider(base, theirs *File, label string, ourSpan, theirSpan span) (text string, ok bool) {
	address, err := parseProviderLabel(label)
	if err != nil {
		return "", false
	}
	key := providerKey(address)
	our, have := f.providers.read[key]
	their, has := theirs.providers.read[key]
	if !have || !has || our.span != ourSpan || their.span != theirSpan { // of duplicate blocks only one is read
		return "", false
	}
	var was Provider
	if b, ok := base.providers.read[key]; ok {
		was = *b.value
	}
	merged := *our.value
	switch {
	case our.value.Version == their.value.Version:
		if !slices.ContainsFunc(our.value.Hashes, func(h hashing.Hash) bool { return slices.Contains(their.value.Hashes, h) }) {
			return "", false
		}
		merged.Hashes = slices.Concat(our.value.Hashes, their.value.Hashes)
		if our.value.Constraints.Equal(was.Constraints) {
			merged.Constraints = their.value.Constraints
		}
	case our.value.Version == was.Version:
		return theirs.at(their.span), true
	case their.value.Version != was.Version:
		return "", false
	}
	switch {
	case merged.Equal(*our.value):
		return f.at(our.span), true
	case merged.Equal(*their.value):
		return theirs.at(their.span), true
	}
	return withNewline(merged.render(nil), newline(f.src)), true
}

func (f *File) readProvider(at span) *Provider {
	for _, e := range f.providers.read {
		if e.span == at {
			return e.value.normalized()
		}
	}
	return nil
}

// providerOffset returns where to insert a provider block, in the order of addresses.
func (f *File) providerOffset(blocks map[string]span, label string) int {
	for _, other := range slices.SortedFunc(maps.Keys(blocks), compareLabels) {
		if compareLabels(other, label) > 0 {
			return lineStart(f.src, blocks[other].start)
		}
	}
	return len(f.src)
}

// compareLabels is [addrs.Provider.Compare] for labels, which need not be addresses.
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

func (f *File) providerSpans() map[string]span {
	blocks := map[string]span{}
	for _, b := range f.providerBlocks {
		if b.label != "" {
			blocks[b.label] = b.span
		}
	}
	return blocks
}

func (f *File) withNewline(newline string) *File {
	src := withNewline(string(f.src), newline)
	if src == string(f.src) {
		return f
	}
	return f.reparse([]byte(src))
}

func (f *File) reparse(src []byte) *File {
	again, diags := parse(src, "")
	if diags.HasErrors() { // a bug in this package: keep the old content
		again, _ = parse(f.src, "")
	}
	return again
}

func markConflicts(merged []byte, conflicts []Conflict, ours, theirs *File) []byte {
	if len(conflicts) == 0 {
		return merged
	}
	f, diags := parse(merged, "")
	if diags.HasErrors() {
		return merged
	}
	at, our, their := f.blockSpans(), ours.blockSpans(), theirs.blockSpans()
	var edits []edit
	for _, c := range conflicts {
		name := blockName{c.Type, c.Label}
		edits = append(edits, edit{span: at[name], text: withNewline(conflictText(ours.at(our[name]), theirs.at(their[name])), newline(merged))})
	}
	slices.SortFunc(edits, func(a, b edit) int { return cmp.Compare(a.start, b.start) })
	return splice(merged, edits)
}

type blockName struct{ kind, label string }

func (f *File) blockSpans() map[blockName]span {
	blocks := make(map[blockName]span)
	for _, b := range f.modules.blocks {
		blocks[blockName{"module", b.value.Key}] = b.span
	}
	for label, span := range f.providerSpans() {
		blocks[blockName{"provider", label}] = span
	}
	return blocks
}

func conflictText(ours, theirs string) string {
	line := func(side string) string {
		if side != "" {
			side += "\n"
		}
		return side
	}
	return "<<<<<<< ours\n" + line(ours) + "=======\n" + line(theirs) + ">>>>>>> theirs"
}
