package cotter

import (
	"cmp"
	"net/url"
	"strings"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/pkgcache"
)

// sharedAnswer is an answer for other processes, with the key of what it was
// pinned to; "" where there is none.
type sharedAnswer struct {
	pkgcache.Answer
	pinned string
}

// shared names what a fetch brings, for all processes of the user. Addresses to
// which not everybody may lead are another's for everybody who leads to them.
// The credentials of an address are part of it unless it is pinned: who has
// others may be given something else.
func (k fetchKey) shared(at location) string {
	name := k.pkg.String() + k.extent()
	if k.revision != "" {
		name = k.pinned(k.revision)
	}
	if k.hosted {
		return "hosted " + name
	}
	if isOpen(k.pkg) {
		return name
	}
	var origin string
	if at.from != nil {
		origin = at.from.Origin
	}
	return strings.Join([]string{name, "led to by", origin, map[bool]string{true: "a package"}[k.fromPackage]}, " ")
}

// isOpen reports whether servers and packages may lead to an address like
// anybody.
func isOpen(pkg addrs.ModulePackage) bool {
	u, err := pkg.URL()
	return err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "ssh" || u.Scheme == "oci")
}

// pinned names a revision of a package, by whichever ref it was found.
func (k fetchKey) pinned(revision string) string {
	repository := k.pkg.WithoutCredentials().Unpinned()
	return repository.String() + "#" + url.QueryEscape(revision) + k.extent()
}

// extent tells packages apart of which more or less is fetched. The space keeps
// it apart from addresses, which have none.
func (k fetchKey) extent() string {
	if k.submodules {
		return " with submodules"
	}
	return ""
}

// answer is what others need to know of a package that was fetched.
func (k fetchKey) answer(pkg *getmodules.Package, t1 hashing.Hash, asked time.Time) sharedAnswer {
	a := sharedAnswer{Answer: pkgcache.Answer{
		Tree:     t1,
		Package:  pkg.Resolved.String(),
		Revision: cmp.Or(k.revision, pkg.Revision),
		Archive:  hashing.Hash(pkg.ArchiveSum),
		Gitlinks: pkg.Gitlinks,
		LeftOut:  recordedLinks(pkg.LeftOut),
		Warnings: pkg.Warnings,
		Asked:    asked,
		Done:     time.Now(),
	}}
	if k.pkg.HasRevisions() && isOpen(k.pkg) && a.Revision != "" && pkg.Subdir == "" {
		a.pinned = k.pinned(a.Revision)
	}
	return a
}

// recordedLinks are links as an answer has them.
func recordedLinks(links []getmodules.Link) []pkgcache.Link {
	var recorded []pkgcache.Link
	for _, link := range links {
		recorded = append(recorded, pkgcache.Link(link))
	}
	return recorded
}

// answeredLinks are the links of an answer.
func answeredLinks(recorded []pkgcache.Link) []getmodules.Link {
	var links []getmodules.Link
	for _, link := range recorded {
		links = append(links, getmodules.Link(link))
	}
	return links
}
