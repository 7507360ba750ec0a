package getmodules

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/cotterpin/cotter/internal/git/gitexec"
	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/git/gitwire"
)

// remoteRef is what a ref of a repository points to: an object, which may be an
// annotated tag, and the commit behind it.
type remoteRef struct{ id, commit string }

// remoteRefs are refs of a repository by their full names.
type remoteRefs map[string]remoteRef

// add adds a line of a listing. After an annotated tag some listings have a
// second line, whose name ends in "^{}", for the commit.
func (r remoteRefs) add(id, name string) {
	if !git.IsObjectID(id) {
		return
	}
	name, peeled := strings.CutSuffix(name, "^{}")
	if tag, ok := r[name]; ok && peeled {
		r[name] = remoteRef{tag.id, id}
		return
	}
	r[name] = remoteRef{id, id}
}

// listedRefs are the refs in the output of git ls-remote.
func listedRefs(out []byte) remoteRefs {
	refs := remoteRefs{}
	for line := range bytes.Lines(out) {
		id, name, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), "\t")
		refs.add(id, name)
	}
	return refs
}

// wiredRefs are the refs that were listed in this process.
func wiredRefs(list []gitwire.Ref) remoteRefs {
	refs := remoteRefs{}
	for _, ref := range list {
		refs[ref.Name] = remoteRef{ref.ID, cmp.Or(ref.Peeled, ref.ID)}
	}
	return refs
}

// chosenRef is the ref that a name means, and another one that it could mean.
type chosenRef struct {
	name string // the full name; "" if there is no such ref
	remoteRef
	// rival is the full name of the next ref that points to another commit; ""
	// if there is none.
	rival, rivalCommit string
}

// choose finds the ref that a name means.
func (r remoteRefs) choose(name string) chosenRef {
	full, others := git.Choose(name, r)
	chosen := chosenRef{name: full, remoteRef: r[full]}
	for _, other := range others {
		if r[other].commit != chosen.commit {
			chosen.rival, chosen.rivalCommit = other, r[other].commit
			break
		}
	}
	return chosen
}

// warning tells the user of the rival; "" if there is none.
func (c chosenRef) warning(ref, commit string) string {
	if c.rival == "" || c.rivalCommit == commit {
		return ""
	}
	return fmt.Sprintf("%q is %s (commit %s), which was taken, and also %s (commit %s); write ?ref=%s or ?ref=%s",
		ref, withArticle(c.name), commit, withArticle(c.rival), c.rivalCommit, c.name, c.rival)
}

func withArticle(full string) string {
	switch {
	case strings.HasPrefix(full, git.Tags):
		return "a tag"
	case strings.HasPrefix(full, git.Heads):
		return "a branch"
	}
	return "the ref " + full
}

// advertised matches a line of git's packet trace in which the server names a
// ref. Version 2 of the protocol has the commit of an annotated tag behind it.
var advertised = regexp.MustCompile(`< ([0-9a-f]{40}|[0-9a-f]{64}) ((?:refs/|HEAD)[^ \\]*)(?: peeled:([0-9a-f]{40,64}))?`)

// noteRival remembers the ref that was taken, and one that the name could have
// meant as well. Only the packet trace tells: git does not report which refs the
// server named beside the one it took, and to ask again would cost two requests
// for each package. A trace in another form gives no warning, nothing worse.
func (g *gitFetch) noteRival(found string) {
	trace, err := os.Open(g.network.PacketTrace)
	if err != nil {
		return
	}
	defer trace.Close()
	refs := remoteRefs{}
	for lines := bufio.NewScanner(trace); lines.Scan(); {
		m := advertised.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		refs.add(m[1], m[2])
		if m[3] != "" {
			refs.add(m[3], m[2]+"^{}")
		}
	}
	if chosen := refs.choose(g.addr.ref); chosen.name == found {
		g.chosen = chosen
	}
}
