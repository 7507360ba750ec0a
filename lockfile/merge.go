package lockfile

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
)

// Conflict is a block that both sides of a merge changed in different ways.
type Conflict struct {
	// Type is "module" or "provider".
	Type string
	// Label is the key of the module call, or the provider's address.
	Label string
}

// Merge merges two lock files with the common ancestor base, which may be empty. A block
// that only one side added, changed or removed is taken from that side, so the files
// conflict only if both sides changed the same block. If both sides changed a provider
// without selecting different versions, the result has the hashes of both. Comments,
// unknown blocks and the order are taken from ours. If there is nothing to merge, the
// result is ours byte for byte.
//
// For each conflict, the result has both blocks between git's conflict markers. No tool can
// read such a file until the user resolves the conflicts.
func Merge(base, ours, theirs *File) (merged []byte, conflicts []Conflict) {
	result, providers := ours.mergeProviders(base, theirs)
	both := map[Conflict][2]string{}
	for _, c := range providers {
		both[c] = [2]string{ours.text(c), theirs.text(c)}
	}
	for _, key := range unionOfKeys(base.entries, ours.entries, theirs.entries) {
		was, had := base.Module(key)
		our, have := ours.Module(key)
		their, has := theirs.Module(key)
		switch {
		case same(our, have, their, has), same(their, has, was, had):
			// Keep ours.
		case same(our, have, was, had) && has:
			result.SetModule(their)
		case same(our, have, was, had):
			result.RemoveModule(key)
		default:
			c := Conflict{"module", key}
			both[c] = [2]string{ours.text(c), theirs.text(c)}
			if !have {
				result.SetModule(their) // a block for the markers to replace
			}
		}
	}
	merged = result.Bytes()
	conflicts = slices.SortedFunc(maps.Keys(both), func(a, b Conflict) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Label, b.Label))
	})
	return markConflicts(merged, both), conflicts
}

// same reports whether both sides have equal modules for a key, or both have none.
func same(a Module, hasA bool, b Module, hasB bool) bool {
	return hasA == hasB && (!hasA || a.Equal(b))
}

func unionOfKeys(sides ...map[string]*entry) []string {
	union := map[string]bool{}
	for _, side := range sides {
		for key := range side {
			union[key] = true
		}
	}
	return slices.Sorted(maps.Keys(union))
}

// reparse parses src, which was derived from the bytes of f.
func (f *File) reparse(src []byte) *File {
	again, diags := Parse(src, "")
	if diags.HasErrors() { // a bug in this package: keep the old content
		again, _ = Parse(f.src, "")
	}
	return again
}

func (f *File) at(s span) string { return string(f.src[s.start:s.end]) }

// text returns the source of a block, or "" if f does not have it.
func (f *File) text(c Conflict) string {
	if c.Type == "provider" {
		return f.at(f.providerSpans()[c.Label])
	}
	if b := f.byKey[c.Label]; b != nil {
		return f.at(b.span)
	}
	return ""
}

// markConflicts replaces each block in conflict with both versions of it, between conflict
// markers.
func markConflicts(merged []byte, both map[Conflict][2]string) []byte {
	if len(both) == 0 {
		return merged
	}
	f, diags := Parse(merged, "")
	if diags.HasErrors() {
		return merged
	}
	providers := f.providerSpans()
	var edits []edit
	for c, sides := range both {
		at := providers[c.Label]
		if c.Type == "module" {
			at = f.byKey[c.Label].span
		}
		edits = append(edits, edit{span: at, text: conflictText(sides[0], sides[1])})
	}
	slices.SortFunc(edits, func(a, b edit) int { return cmp.Compare(a.start, b.start) })
	return splice(merged, edits)
}

// conflictText formats a conflict as git does.
func conflictText(ours, theirs string) string {
	var b bytes.Buffer
	b.WriteString("<<<<<<< ours\n")
	if ours != "" {
		b.WriteString(ours + "\n")
	}
	b.WriteString("=======\n")
	if theirs != "" {
		b.WriteString(theirs + "\n")
	}
	b.WriteString(">>>>>>> theirs")
	return b.String()
}
