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
// one. It merges what the files say now, with unwritten changes, as [File.Bytes] would write them; a change that
// [File.Check] refuses is a conflict. The files are not changed.
//
// A block that only one side changed is taken from that side. If one side changed only comments and layout in
// it, the values of the other are taken. If both changed a provider without selecting different versions, and
// its blocks have a hash in common, the result has the hashes of both: those of one release, for several
// platforms. Comments, the order and the line end are those of ours. If there is nothing to merge, the result
// is ours byte for byte.
//
// No tool writes a lock with arguments or other blocks. If both sides changed such a file, and differ
// outside of the blocks of modules and providers, comments included, then the files conflict as a whole. So
// they do if the result would be too large.
//
// resolve, which may be nil, says from which side the block of a conflict is taken, unless the files
// conflict as a whole, or a side cannot be written. For each conflict that is left, the result has both blocks
// between git's conflict markers, and no tool can read it.
func Merge(base, ours, theirs *File, resolve func(Conflict) Side) (merged []byte, conflicts []Conflict) {
	if resolve == nil {
		resolve = func(Conflict) Side { return Neither }
	}
	m := merge{resolve: resolve, refused: map[blockName]bool{}}
	isReadable := true
	for i, f := range []*File{base, ours, theirs} {
		written, ok := f.orEmpty().asWritten(m.refused)
		*[]**File{&m.base, &m.ours, &m.theirs}[i] = written
		isReadable = isReadable && ok
	}
	if !isReadable {
		return m.conflictAsWhole()
	}
	m.base, m.theirs = m.base.withNewline(newline(m.ours.src)), m.theirs.withNewline(newline(m.ours.src))
	if merged, conflicts, ok := m.whole(); ok {
		return merged, conflicts
	}
	result, ok := m.providers()
	if ok {
		m.modules(result)
		slices.SortFunc(m.conflicts, func(a, b Conflict) int {
			return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Label, b.Label))
		})
		merged, ok = m.mark(result.Bytes())
	}
	if !ok {
		return m.conflictAsWhole()
	}
	return merged, m.conflicts
}

// asWritten returns the file as it is read after it is written. It leaves out changes that cannot be written, and
// adds their blocks to refused. ok is false if the file would be too large to be read.
func (f *File) asWritten(refused map[blockName]bool) (written *File, ok bool) {
	clone := f.Clone()
	for _, m := range f.modules.changed() {
		if len(m.writeFaults()) > 0 {
			refused[blockName{"module", m.Key}] = true
			clone.modules.reset(m.key())
		}
	}
	for _, p := range f.providers.changed() {
		if len(p.writeFaults()) > 0 {
			refused[blockName{"provider", p.Address.String()}] = true
			clone.providers.reset(p.key())
		}
	}
	if len(clone.edits()) == 0 {
		return clone, true
	}
	src := clone.Bytes()
	if written, ok = parseAgain(src); !ok {
		return &File{src: src}, false
	}
	return written, true
}

// merge is a three-way merge of files without unwritten changes.
type merge struct {
	base, ours, theirs *File
	resolve            func(Conflict) Side
	refused            map[blockName]bool // blocks with a change that cannot be written
	conflicts          []Conflict
}

// decide returns the side from which the block of a conflict is taken, or keeps the conflict.
func (m *merge) decide(c Conflict) Side {
	side := Neither
	if !m.refused[blockName{c.Type, c.Label}] {
		side = m.resolve(c)
	}
	if side == Neither {
		m.conflicts = append(m.conflicts, c)
	}
	return side
}

// modules merges the blocks of modules into the result of the providers.
func (m *merge) modules(result *File) {
	was, our, their := m.base.modules.read, m.ours.modules.read, m.theirs.modules.read
	for _, key := range union(was, our, their, labelsOf[*block[*Module]](m.refused, "module")) {
		taken, text := m.module(was[key], our[key], their[key])
		if taken == Neither || m.refused[blockName{"module", key}] {
			taken = m.decide(Conflict{Type: "module", Label: key, OurModule: moduleOf(our[key]), TheirModule: moduleOf(their[key])})
		}
		switch {
		case taken == Theirs && their[key] == nil:
			result.RemoveModule(key)
		case taken == Theirs, taken == Neither && our[key] == nil && their[key] != nil: // or a block for the markers to replace
			result.modules.setText(their[key].value, text)
		}
	}
}

func moduleOf(b *block[*Module]) *Module {
	if b == nil {
		return nil
	}
	return b.value.normalized()
}

// module returns the side from which a block is taken, or Neither for a conflict. A side without the block has
// nil. text is that of their block, or "" if only its values are taken, because ours has comments of its own.
func (m *merge) module(was, our, their *block[*Module]) (taken Side, text string) {
	text = textOf(m.theirs, their)
	same := func(a, b string) bool { return a == b }
	if taken = winner(textOf(m.base, was), textOf(m.ours, our), text, same); taken != Neither {
		return taken, text
	}
	before, now, other := m.base.moduleContent(was), m.ours.moduleContent(our), m.theirs.moduleContent(their)
	taken = winner(before, now, other, moduleContent.equals)
	if taken == Theirs && slices.Equal(now.unknown, other.unknown) {
		text = ""
	}
	return taken, text
}

// labelsOf returns the labels of the blocks of a type, without values.
func labelsOf[V any](blocks map[blockName]bool, kind string) map[string]V {
	labels := make(map[string]V)
	for name := range blocks {
		if name.kind == kind {
			var none V
			labels[name.label] = none
		}
	}
	return labels
}

func textOf(f *File, b *block[*Module]) string {
	if b == nil {
		return ""
	}
	return f.at(b.span)
}

// moduleContent is a block without its comments and layout.
type moduleContent struct {
	value   *Module  // nil if there is no block
	unknown []string // the source of unknown attributes and nested blocks
}

func (f *File) moduleContent(b *block[*Module]) moduleContent {
	if b == nil {
		return moduleContent{}
	}
	return moduleContent{b.value, unknownContent([]byte(f.at(b.span)), b.value.content())}
}

func (c moduleContent) equals(other moduleContent) bool {
	return (c.value == nil) == (other.value == nil) && (c.value == nil || c.value.equals(other.value)) && slices.Equal(c.unknown, other.unknown)
}

// whole merges files that differ outside of the blocks of modules and providers; ok is false if they do not.
func (m *merge) whole() (merged []byte, conflicts []Conflict, ok bool) {
	if m.ours.rest() == m.theirs.rest() {
		return nil, nil, false
	}
	taken := winner(m.base, m.ours, m.theirs, func(a, b *File) bool { return bytes.Equal(a.src, b.src) })
	switch {
	case len(m.refused) > 0:
	case taken == Ours:
		return bytes.Clone(m.ours.src), nil, true
	case taken == Theirs:
		return bytes.Clone(m.theirs.src), nil, true
	}
	merged, conflicts = m.conflictAsWhole()
	return merged, conflicts, true
}

func (m *merge) conflictAsWhole() ([]byte, []Conflict) {
	ours, theirs := strings.TrimRight(string(m.ours.src), "\r\n"), strings.TrimRight(string(m.theirs.src), "\r\n")
	return []byte(withNewline(conflictText(ours, theirs)+"\n", newline(m.ours.src))), []Conflict{{Type: "other"}}
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

func union[V any](sides ...map[string]V) []string {
	all := map[string]bool{}
	for _, side := range sides {
		for key := range side {
			all[key] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// providers merges provider blocks as bytes, so blocks with errors as well. If that changes any, and there are no
// conflicts or errors, all are written as stock tools do, so that the next init does not write the file again. ok
// is false if the result is too large.
func (m *merge) providers() (result *File, ok bool) {
	f, theirs := m.ours, m.theirs
	var edits []edit
	was, our, their := m.base.providerSpans(), f.providerSpans(), theirs.providerSpans()
	labels := union(was, our, their, labelsOf[span](m.refused, "provider"))
	slices.SortFunc(labels, compareLabels)
	for _, label := range labels {
		o, t := f.at(our[label]), theirs.at(their[label])
		taken := winner(m.base.at(was[label]), o, t, func(a, b string) bool { return a == b })
		isRefused := m.refused[blockName{"provider", label}]
		if taken == Neither || isRefused {
			if both, ok := f.mergeProvider(m.base, theirs, label, our[label], their[label]); ok && !isRefused {
				if both != o {
					edits = append(edits, edit{span: our[label], text: both})
				}
				continue
			}
			taken = m.decide(Conflict{Type: "provider", Label: label, OurProvider: f.readProvider(our[label]), TheirProvider: theirs.readProvider(their[label])})
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
		return f.Clone(), true
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Compare(a.start, b.start) })
	if result, ok = parseAgain(splice(f.src, edits)); ok {
		result.providers.rewritten = len(m.conflicts) == 0 && len(result.providerFaults) == 0
	}
	return result, ok
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
	return withNewline(render(&merged), newline(f.src)), true
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
	if again, ok := parseAgain([]byte(src)); ok {
		return again
	}
	return f // its blocks differ from those of the other files
}

// parseAgain parses the blocks of files that were parsed before; ok is false if they are too many for one file.
func parseAgain(src []byte) (f *File, ok bool) {
	f, diags := parse(src, "")
	return f, !diags.HasErrors()
}

// mark writes the blocks of conflicts between markers.
func (m *merge) mark(merged []byte) (marked []byte, ok bool) {
	if len(m.conflicts) == 0 {
		return merged, len(merged) <= MaxSize
	}
	f, ok := parseAgain(merged)
	if !ok {
		return nil, false
	}
	at, our, their := f.blockSpans(), m.ours.blockSpans(), m.theirs.blockSpans()
	var edits []edit
	for _, c := range m.conflicts {
		name := blockName{c.Type, c.Label}
		change := edit{text: withNewline(conflictText(m.ours.at(our[name]), m.theirs.at(their[name])), newline(merged))}
		if change.span, ok = at[name]; !ok { // a new block that cannot be written
			change.span, change.separate = span{len(merged), len(merged)}, true
		}
		edits = append(edits, change)
	}
	slices.SortFunc(edits, func(a, b edit) int { return cmp.Compare(a.start, b.start) })
	return splice(merged, edits), true
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
