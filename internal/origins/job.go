package origins

import (
	"cmp"
	"net/url"
	"strings"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/pkgcache"
	"github.com/cotterpin/cotter/internal/pkgtree"
)

// fetchKey is what makes two fetches the same.
type fetchKey struct {
	pkg         addrs.ModulePackage
	revision    string
	fromServer  bool
	fromPackage bool
	hosted      bool
	submodules  bool
	// places are the rules about where a fetch may be redirected.
	places string
	// want is the t1 hash that the lock has for it; "" if it has none.
	want hashing.Hash
	// fresh means that nothing counts but what the origin sends.
	fresh bool
}

// fetchJob is a fetch for the first source that needs it.
type fetchJob struct {
	fetchKey
	at Location
	// path is the source's path, for warnings.
	path addrs.Module
}

func (o *Origins) newJob(from Source, at Location, revision string, want hashing.Hash) fetchJob {
	return fetchJob{at: at, path: from.Path, fetchKey: fetchKey{
		pkg:        at.Package,
		revision:   revision,
		fromServer: at.FromServer(),
		// The same rules apply to the answers, whichever client asked.
		fromPackage: !at.FromServer() && from.FromPackage,
		hosted:      at.isHosted(),
		submodules:  o.Submodules,
		places:      o.Rules.Places(),
		want:        want,
		fresh:       at.Unconfirmed,
	}}
}

// request asks the fetcher for the package, wherever it is to go.
func (j fetchJob) request() getmodules.Request {
	return getmodules.Request{
		Package:     j.pkg,
		Revision:    j.revision,
		FromServer:  j.fromServer,
		FromPackage: j.fromPackage,
		Submodules:  j.submodules,
		Origin:      j.at.origin(),
	}
}

// downloaded is what other processes need to know of a package that was fetched.
func (j fetchJob) downloaded(pkg *getmodules.Package, tree *pkgtree.Tree, asked time.Time) *pkgcache.Fetched {
	got := &pkgcache.Fetched{Tree: tree, Answer: pkgcache.Answer{
		Tree:     tree.T1(),
		Package:  pkg.Resolved.String(),
		Revision: cmp.Or(j.revision, pkg.Revision),
		Archive:  hashing.Hash(pkg.ArchiveSum),
		Gitlinks: pkg.Gitlinks,
		Warnings: pkg.Warnings,
		Asked:    asked,
		Done:     time.Now(),
	}}
	for _, link := range pkg.LeftOut {
		got.Answer.LeftOut = append(got.Answer.LeftOut, pkgcache.Link(link))
	}
	if j.pkg.HasRevisions() && isPublic(j.pkg) && got.Answer.Revision != "" && pkg.Subdir == "" {
		got.PinnedKey = j.pinnedKey(got.Answer.Revision)
	}
	return got
}

// sharedKey names what a fetch brings, for all processes of the user. An address
// that servers and packages may not name has another key for each that names it. The
// credentials of an address are part of the key unless it is pinned: with others a
// server may send something else.
func (j fetchJob) sharedKey() string {
	name := j.pkg.String() + j.extent()
	if j.revision != "" {
		name = j.pinnedKey(j.revision)
	}
	if j.hosted {
		return "hosted " + name
	}
	if isPublic(j.pkg) {
		return name
	}
	by := ""
	if j.fromPackage {
		by = "a package"
	}
	return strings.Join([]string{name, "named by", j.at.origin(), by}, " ")
}

// pinnedKey names a revision of a package, by whichever ref it was found.
func (j fetchJob) pinnedKey(revision string) string {
	return j.pkg.WithoutCredentials().Unpinned().String() + "#" + url.QueryEscape(revision) + j.extent()
}

// extent tells packages apart of which more or less is fetched. Addresses have no
// space.
func (j fetchJob) extent() string {
	if j.submodules {
		return " with submodules"
	}
	return ""
}

// isPublic reports whether servers and packages may name an address as the user
// may.
func isPublic(pkg addrs.ModulePackage) bool {
	u, err := pkg.URL()
	return err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "ssh" || u.Scheme == "oci")
}
