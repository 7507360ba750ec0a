package origins

import (
	"cmp"
	"net/url"
	"strings"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/store"
)

// Pin is what a lock says about the package to fetch. The zero value says nothing.
type Pin struct {
	// Revision is the commit or digest that the origin must deliver; "" if there is none.
	Revision string
	// Tree is the t1 hash of the package; "" if there is none.
	Tree hashing.Hash
	// Fresh means that a git store in the cache that has the revision proves nothing, because
	// nothing has confirmed the revision. The origin must deliver it.
	Fresh bool
}

// fetchKey identifies a fetch: fetches with equal keys get the same package.
type fetchKey struct {
	pkg        addrs.ModulePackage
	fromServer bool
	by         caller
	hosted     bool
	submodules bool
	// places identifies the rules that restrict where a fetch may go: to which submodules and
	// through which pages and redirects.
	places string
	Pin
}

type fetchJob struct {
	fetchKey
	at Location
	// path is the module path of that source, for warnings.
	path addrs.Module
	// origin is the URL of the server or package that named the location; "" if the project did.
	origin string
}

func (o *Origins) newJob(from Source, at Location, pin Pin) fetchJob {
	by := from.caller()
	if at.FromServer() {
		by = caller{} // whichever client follows a server's answer, the same rules apply
	}
	return fetchJob{at: at, path: from.Path, origin: at.origin(from), fetchKey: fetchKey{
		pkg:        at.Package,
		fromServer: at.FromServer(),
		by:         by,
		hosted:     at.isHosted(),
		submodules: o.Submodules,
		places:     o.Rules.Locations(),
		Pin:        pin,
	}}
}

func (j fetchJob) request() getmodules.Request {
	return getmodules.Request{
		Package:     j.pkg,
		Revision:    j.Revision,
		FromServer:  j.fromServer,
		FromPackage: j.by.fromPackage,
		Submodules:  j.submodules,
		Origin:      j.origin,
	}
}

func (j fetchJob) downloaded(pkg *getmodules.Package, tree *store.Tree, asked time.Time) *store.Fetched {
	got := &store.Fetched{Tree: tree, Bytes: pkg.Bytes, Answer: store.Answer{
		Tree:     tree.T1(),
		Package:  pkg.Resolved.String(),
		Revision: cmp.Or(j.Revision, pkg.Revision),
		Archive:  hashing.Hash(pkg.ArchiveSum),
		Gitlinks: pkg.Gitlinks,
		Warnings: pkg.Warnings,
		Asked:    asked,
		Done:     time.Now(),
	}}
	for _, link := range pkg.LeftOut {
		got.Answer.LeftOut = append(got.Answer.LeftOut, store.LeftOutLink(link))
	}
	if j.pkg.HasRevisions() && isPublic(j.pkg) && got.Answer.Revision != "" && pkg.Subdir == "" {
		got.PinnedKey = j.pinnedKey(got.Answer.Revision)
	}
	return got
}

// sharedKey returns the name under which all processes of the user share the result of a fetch.
// If an address may not be named by servers and packages, the key also contains which of them
// named it. Unless the address is pinned, its credentials are part of the key, because a server
// may send something else for other credentials.
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
	return strings.Join([]string{name, "named by", j.origin, by}, " ")
}

// pinnedKey returns the name of a revision of a package. The name does not depend on the ref by
// which the revision was found.
func (j fetchJob) pinnedKey(revision string) string {
	return j.pkg.WithoutCredentials().Unpinned().String() + "#" + url.QueryEscape(revision) + j.extent()
}

// extent returns a suffix that distinguishes fetches with submodules from fetches without, and
// fetches under different policies. It cannot be part of an address, because addresses contain no
// spaces.
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

// isPublic reports whether servers and packages may name an address just as the user may.
func isPublic(pkg addrs.ModulePackage) bool {
	at, err := pkg.Location()
	u := at.URL()
	return err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "ssh" || u.Scheme == "oci")
}
