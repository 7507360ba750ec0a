package git

import "strings"

// The namespaces of tags and branches.
const (
	Tags  = "refs/tags/"
	Heads = "refs/heads/"
)

// Head is the ref that an empty name means.
const Head = "HEAD"

// Candidates returns the full names that a name may stand for, in order of precedence. The
// empty name means HEAD.
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

// OriginBranch returns the full name of the branch that a name such as "origin/main" means if there
// is no ref of that name; "" for other names. Stock tools accept such names, because each clone has
// refs that are named like this.
func OriginBranch(name string) string {
	branch, ok := strings.CutPrefix(name, "origin/")
	if !ok || branch == "" {
		return ""
	}
	return Heads + branch
}

// The limits of a list of refs, for all clients. A ref takes about 70 bytes, and an annotated tag twice
// as many. A list that exceeds them is an [ErrTooLarge], after which no other client is tried.
const (
	MaxRefs     = 200_000
	MaxRefBytes = 32 << 20
)

// Ref has the objects that a ref points to.
type Ref struct {
	// ID is the name of the object that the ref points to, which may be an annotated tag.
	ID string
	// Commit is the commit that an annotated tag finally points to. For other refs it is the
	// same as ID.
	Commit string
}

// Refs are refs of a repository, by full name.
type Refs map[string]Ref

// Add adds a line of a listing. In some listings, the line of an annotated tag is followed by a
// line for the object that it points to, whose name ends in "^{}". Lines without a valid object
// name or ref are ignored.
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

// Chosen is the ref that a name means, and another ref that it could mean.
type Chosen struct {
	Name string // the full name; "" if there is no such ref
	Ref
	// Rival is the full name of the next ref that the name could mean and that points to a
	// different commit; "" if there is none.
	Rival       string
	RivalCommit string
}

// Choose returns the ref that a name means; see [Candidates].
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

// Short returns a ref's name without the namespace of tags or branches.
func Short(full string) string {
	if branch, ok := strings.CutPrefix(full, Heads); ok {
		return branch
	}
	return strings.TrimPrefix(full, Tags)
}

// Want describes which commit to fetch.
type Want struct {
	// ID is the name of the commit; "" means the commit of Ref.
	ID string
	// Ref is a full or short ref, as for [Candidates], or the beginning of a commit's name if
	// there is no such ref. If ID is set, Ref is a ref to fetch the commit from if the server
	// does not send single commits.
	Ref string
	// OnlyRef limits a search for the commit ID to the history of Ref. [Repository.Reachable]
	// uses it.
	OnlyRef bool
}

// Known returns the full name of the commit if it is known in advance: w.ID, or w.Ref if that
// is the name of an object. Otherwise it returns "".
func (w Want) Known() string {
	switch {
	case w.ID != "":
		return w.ID
	case IsObjectID(w.Ref):
		return w.Ref
	}
	return ""
}
