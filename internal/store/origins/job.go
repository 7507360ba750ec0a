package origins

import (
	"cmp"
	"net/url"
	"strings"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/configuration/callsource"
	"github.com/cotterpin/cotter/internal/disk/treewriter"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/internal/text/textform"
)

// Pin is what a lock says about the package to fetch. The zero value says nothing.
type Pin struct {
	// Revision is the commit or digest that the origin must deliver, or "".
	Revision string
	// Tree is a t1 hash, or "".
	Tree hashing.Hash
	// Fresh means that the origin must deliver the revision: nothing has confirmed it, so a git store in
	// the cache proves nothing.
	Fresh bool
}

// Fetches with equal keys get the same package.
type fetchKey struct {
	named
	hosted     bool
	submodules bool
	// places identifies the rules for where a fetch may go: to submodules, and through pages and redirects.
	places string
	Pin
}

type fetchJob struct {
	fetchKey
	from callsource.Source
	at   Location
}

func (o *Origins) newJob(from callsource.Source, at Location, pin Pin) fetchJob {
	key := fetchKey{named: at.namedBy(from), hosted: at.isHosted(), submodules: o.Submodules, places: o.Rules.Locations(), Pin: pin}
	return fetchJob{key, from, at}
}

func (j fetchJob) downloaded(pkg *getmodules.Package, tree *store.Tree, asked time.Time) *Fetched {
	answer := store.Answer{
		Tree:     tree.T1(),
		Package:  pkg.Resolved.String(),
		Revision: cmp.Or(j.Revision, pkg.Revision),
		Archive:  hashing.Hash(pkg.ArchiveSum),
		Gitlinks: textform.Paths(pkg.Gitlinks),
		Warnings: pkg.Warnings,
		Asked:    asked,
		Done:     time.Now(),
	}
	for _, link := range pkg.LeftOut {
		answer.LeftOut = append(answer.LeftOut, treewriter.Link(link))
	}
	got := newFetched(answer, tree)
	got.Bytes = pkg.Bytes
	if j.pkg.HasRevisions() && isPublic(j.pkg) && answer.Revision != "" && pkg.Subdir == "" {
		got.pinnedKey = j.pinnedKey(answer.Revision)
	}
	return got
}

// sharedKey is the name of the result for all processes of the user. It has who named the address if not
// everyone may, and its credentials unless it is pinned, because a server may send something else for
// others.
func (j fetchJob) sharedKey() string {
	name := j.pkg.String() + j.extent()
	if j.Revision != "" {
		name = j.pinnedKey(j.Revision)
	}
	if j.hosted {
		return "hosted " + name
	}
	if isPublic(j.pkg) {
		return name
	}
	by := ""
	if j.by.fromPackage {
		by = "a package"
	}
	return strings.Join([]string{name, "named by", j.at.origin(j.from), by}, " ")
}

// pinnedKey is the name of a revision, whatever ref it was found by. Whose credentials are used does not matter for
// it, but all other arguments do.
func (j fetchJob) pinnedKey(revision string) string {
	return j.pkg.ForLock(true).Unpinned().String() + "#" + url.QueryEscape(revision) + j.extent()
}

// extent distinguishes fetches with submodules, and under different policies. It has a space, as no address
// does.
func (j fetchJob) extent() string {
	extent := ""
	if j.submodules {
		extent = " with submodules"
	}
	if j.places != "" {
		extent += " where the policy has " + j.places
	}
	return extent
}

// isPublic reports whether servers and packages may name an address as the user may.
func isPublic(pkg addrs.ModulePackage) bool {
	at, err := pkg.Location()
	u := at.URL()
	return err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "ssh" || u.Scheme == "oci")
}
