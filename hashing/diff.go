package hashing

// Changes are paths that differ between two trees, each list sorted.
type Changes struct {
	// Changed are the entries of both trees that differ in kind, content or
	// target.
	Changed []string
	// Vanished are the entries that are gone.
	Vanished []string
	// Added are the entries that are new.
	Added []string
}

// Empty reports whether there are no changes.
func (c Changes) Empty() bool { return len(c.Changed)+len(c.Vanished)+len(c.Added) == 0 }

// Diff tells what became of want in got. Trees that differ in t1 have changes
// and others have none. A directory that was empty and now has entries has not
// vanished, and one that has lost its entries was not added: the entries tell.
func Diff(want, got *Tree) Changes {
	var c Changes
	w, g := want.Entries, got.Entries
	for len(w) > 0 || len(g) > 0 {
		switch {
		case len(g) == 0 || len(w) > 0 && w[0].Path < g[0].Path:
			if w[0].Kind != EmptyDir || !below(got.Entries, w[0].Path) {
				c.Vanished = append(c.Vanished, w[0].Path)
			}
			w = w[1:]
		case len(w) == 0 || g[0].Path < w[0].Path:
			if g[0].Kind != EmptyDir || !below(want.Entries, g[0].Path) {
				c.Added = append(c.Added, g[0].Path)
			}
			g = g[1:]
		default:
			if !w[0].same(g[0]) {
				c.Changed = append(c.Changed, w[0].Path)
			}
			w, g = w[1:], g[1:]
		}
	}
	return c
}
