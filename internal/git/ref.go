package git

import "strings"

// The namespaces of tags and branches.
const (
	Tags  = "refs/tags/"
	Heads = "refs/heads/"
)

const Head = "HEAD"

// Candidates returns the full names that a name may stand for, in order of precedence; "" means HEAD.
func Candidates(name string) []string {
	if name == "" {
		return []string{Head}
	}
	list := []string{
		name,
		"refs/" + name,
		Tags + name,
		Heads + name,
		"refs/remotes/" + name,
		"refs/remotes/" + name + "/HEAD",
	}
	if branch := OriginBranch(name); branch != "" {
		list = append(list, branch)
	}
	return list
}

// OriginBranch returns the branch that "origin/main" means if there is no such ref. Stock tools accept such
// names, because each clone has them.
func OriginBranch(name string) string {
	branch, ok := strings.CutPrefix(name, "origin/")
	if !ok || branch == "" {
		return ""
	}
	return Heads + branch
}

// Limits of a list of refs, for all clients. A ref takes about 70 bytes, an annotated tag twice as many.
const (
	MaxRefs     = 200_000
	MaxRefBytes = 32 << 20
)

type Ref struct {
	// ID may name an annotated tag.
	ID string
	// Commit is what the tag finally points to, and otherwise ID.
	Commit string
}

// Refs are by full name.
type Refs map[string]Ref

// Add adds a line of a listing, unless it is malformed. What an annotated tag points to may follow, with "^{}"
// after the name.
func (r Refs) Add(id, name string) {
	if !IsObjectID(id) || name == "" {
		return
	}
	name, peeled := strings.CutSuffix(name, "^{}")
	if tag, ok := r[name]; ok && peeled {
		r[name] = Ref{ID: tag.ID, Commit: id}
		return
	}
	r[name] = Ref{ID: id, Commit: id}
}

type Chosen struct {
	Name string // the full name; "" if there is no such ref
	Ref
	// Rival is the next ref that the name could mean and that has another commit; "" if there is none.
	Rival       string
	RivalCommit string
}

func (r Refs) Choose(name string) Chosen {
	var chosen Chosen
	for _, candidate := range Candidates(name) {
		ref, ok := r[candidate]
		switch {
		case !ok:
		case chosen.Name == "":
			chosen.Name, chosen.Ref = candidate, ref
		case ref.Commit != chosen.Commit && candidate != OriginBranch(name):
			chosen.Rival, chosen.RivalCommit = candidate, ref.Commit
			return chosen
		}
	}
	return chosen
}

// Short returns a name without refs/tags/ or refs/heads/.
func Short(full string) string {
	if branch, ok := strings.CutPrefix(full, Heads); ok {
		return branch
	}
	return strings.TrimPrefix(full, Tags)
}

type Want struct {
	// ID is a commit; "" means that of Ref.
	ID string
	// Ref is as for [Candidates], or the beginning of a commit. If ID is set, it is fetched from Ref if the
	// server does not send single commits.
	Ref string
	// OnlyRef limits the search of [Repository.Reachable] to Ref.
	OnlyRef bool
}

// Known returns the commit if Want names it in full, and otherwise "".
func (w Want) Known() string {
	switch {
	case w.ID != "":
		return w.ID
	case IsObjectID(w.Ref):
		return w.Ref
	}
	return ""
}
