package providerfetch

import (
	"slices"

	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/store"
)

func recognized(locked []hashing.Hash) []hashing.Hash {
	return slices.DeleteFunc(slices.Clone(locked), func(h hashing.Hash) bool {
		return h.Scheme() != "h1" && h.Scheme() != "zh"
	})
}

func hasScheme(hashes []hashing.Hash, scheme string) bool {
	return slices.ContainsFunc(hashes, func(h hashing.Hash) bool { return h.Scheme() == scheme })
}

// checkArchive compares the archive with the lock before the download: if the lock has only zh hashes, or
// its content is already known.
func (j *job) checkArchive() error {
	want := recognized(j.want.Locked)
	if j.archive == "" || len(want) == 0 || slices.Contains(want, j.archive) {
		return nil
	}
	h1 := j.Store.UnpacksTo(j.archive)
	if h1 == "" && hasScheme(want, "h1") || slices.Contains(want, h1) {
		return nil
	}
	if hasScheme(want, "h1") {
		return j.mismatch(want, h1)
	}
	return j.mismatch(want, j.archive)
}

func (j *job) checkContent(h1 hashing.Hash) error {
	want := recognized(j.want.Locked)
	if len(want) == 0 || slices.Contains(want, h1) || slices.Contains(want, j.archive) {
		return nil
	}
	return j.mismatch(want, h1)
}

func (j *job) mismatch(want []hashing.Hash, got hashing.Hash) error {
	return &getproviders.MismatchError{
		Location: j.pkg.Location(), Want: texts(want...), Got: string(got), Locked: true, OtherPlatforms: !coversPlatforms(want),
	}
}

// coversPlatforms reports whether hashes have the archives of all platforms. Only a registry's list of sums brings
// more archives than contents: what was locked for a platform has an h1.
func coversPlatforms(locked []hashing.Hash) bool {
	contents := 0
	for _, h := range locked {
		if h.Scheme() == "h1" {
			contents++
		}
	}
	return len(locked) > 2*contents
}

func texts(hashes ...hashing.Hash) []string {
	shown := make([]string, len(hashes))
	for i, h := range hashes {
		shown[i] = string(h)
	}
	return shown
}

// checkReported compares the package with the h1 that the source has confirmed, and with what it announces.
func (j *job) checkReported(p Proof) error {
	announced := p.Authentication.Announced
	if len(announced) > 0 && !slices.Contains(announced, p.H1) && !slices.Contains(announced, p.Archive) {
		return &getproviders.MismatchError{Location: p.Location, Want: texts(announced...), Got: string(p.H1)}
	}
	if h1 := reportedH1(p.Authentication); h1 != "" && h1 != p.H1 {
		return &getproviders.MismatchError{Location: p.Location, Want: texts(h1), Got: string(p.H1)}
	}
	return nil
}

func reportedH1(auth getproviders.Authentication) hashing.Hash {
	for _, h := range auth.Own {
		if h.Scheme() == "h1" {
			return h
		}
	}
	return ""
}

func (j *job) proof(h1 hashing.Hash) Proof {
	auth := j.auth
	hashes := slices.DeleteFunc(slices.Clone(auth.Hashes), func(h hashing.Hash) bool { return h == h1 })
	if slices.Contains(auth.Announced, j.archive) {
		hashes = append(hashes, j.archive)
	}
	slices.Sort(hashes)
	return Proof{
		Archive: j.archive, H1: h1, Hashes: append([]hashing.Hash{h1}, slices.Compact(hashes)...), Matched: j.want.matched(h1, j.archive),
		Authentication: auth, Asked: true, Location: j.pkg.Location(), Bytes: j.bytes,
	}
}

func (j *job) record(p Proof) {
	auth := p.Authentication
	j.Store.RecordRelease(j.want.statement(), store.Release{
		Evidence: auth.Evidence, Archive: p.Archive, H1: p.H1,
		KeyID: auth.KeyID, Key: auth.Key, Weak: auth.Weak, Hashes: auth.Hashes,
	})
}
