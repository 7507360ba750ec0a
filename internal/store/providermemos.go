package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/disk/atomicfile"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/rules/evidencerules"
	"github.com/cotterpin/cotter/versions"
)

// memoName has what this user has learned about archives and releases.
const memoName = "memo"

// Release is what a source has stated about a package that this user got.
type Release struct {
	Evidence evidence.Evidence
	// Archive is the zh of the archive, or "" for a directory.
	Archive hashing.Hash
	H1      hashing.Hash
	// These are copied from the source's authentication.
	KeyID, Key, Weak string
	Hashes           []hashing.Hash
}

// ReleaseStatement is what evidence about a package is kept for.
func ReleaseStatement(provider addrs.Provider, version versions.Version, platform addrs.Platform) string {
	return "release " + provider.String() + " " + version.String() + " " + platform.String()
}

// Release returns the last [Providers.RecordRelease] for a [ReleaseStatement] and its evidence. A lock or
// the source may mean another package now.
func (s *Providers) Release(record string) (Release, bool) {
	var r Release
	ok := s.recall(memoName, record, &r)
	return r, ok
}

// RecordRelease does nothing for evidence that later runs must not use, or that is of an earlier run.
func (s *Providers) RecordRelease(statement string, r Release) {
	if !r.Evidence.Since.IsZero() {
		return
	}
	var memos evidencerules.Memos
	memos.Add(r.Evidence, statement)
	r.Evidence.Since = time.Now()
	for _, record := range memos.Take() {
		s.remember(memoName, record, r)
	}
}

// Hashes returns the last [Providers.RecordHashes] for a source and a [ReleaseStatement], at least one.
func (s *Providers) Hashes(source, statement string) ([]hashing.Hash, bool) {
	var hashes []hashing.Hash
	ok := s.recall(memoName, hashesOf(source, statement), &hashes)
	return hashes, ok && len(hashes) > 0
}

// RecordHashes records which hashes a source confirms for a package, and the lock records.
func (s *Providers) RecordHashes(source, statement string, hashes []hashing.Hash) {
	s.remember(memoName, hashesOf(source, statement), hashes)
}

func hashesOf(source, statement string) string { return "hashes from " + source + ": " + statement }

// UnpacksTo returns the h1 of the content of an archive that this user has unpacked or hashed, or "".
func (s *Providers) UnpacksTo(zh hashing.Hash) hashing.Hash {
	var h1 hashing.Hash
	if zh.Scheme() != "zh" || !s.recall(memoName, "archive "+string(zh), &h1) {
		return ""
	}
	return h1
}

// RecordArchive does nothing if zh is "".
func (s *Providers) RecordArchive(zh, h1 hashing.Hash) {
	if zh != "" {
		s.remember(memoName, "archive "+string(zh), h1)
	}
}

// Matches returns the locked hash of a package with this h1: the h1 itself, or the zh of an archive with
// that content; or "".
func (s *Providers) Matches(h1 hashing.Hash, locked []hashing.Hash) hashing.Hash {
	for _, h := range locked {
		if h == h1 {
			return h
		}
	}
	for _, h := range locked {
		if s.UnpacksTo(h) == h1 && h1 != "" {
			return h
		}
	}
	return ""
}

func (s *Providers) providerRecord(dir, subject string) record {
	return record{dir: dir, name: s.key.Name("provider "+dir, subject), purpose: "provider " + dir + " of " + subject}
}

// recall reads a record that this user has written, if there is one.
func (s *Providers) recall(dir, subject string, to any) bool {
	if s.dir == "" {
		return false
	}
	r := s.providerRecord(dir, subject)
	if s.readRecord(r, to) != nil {
		return false
	}
	if s.writable {
		markUsed(filepath.Join(s.dir, r.dir, r.name))
	}
	return true
}

// remember ignores errors, because a missing record only costs time.
func (s *Providers) remember(dir, subject string, what any) {
	if s.writable {
		_ = s.writeRecord(s.providerRecord(dir, subject), what)
	}
}

// Forget removes proofs, memos and download locks that were last used before a time, except for those about
// the packages in keep, which could not be used without asking their origins again.
func (s *Providers) Forget(before time.Time, keep map[string]bool) error {
	var err error
	for _, dir := range []string{memoName, proofName, fetchName} {
		var isKept func(string) bool
		if len(keep) > 0 && dir != fetchName {
			isKept = func(name string) bool { return isAbout(filepath.Join(s.dir, dir), name, keep) }
		}
		err = errors.Join(err, s.forget(dir, before, isKept))
	}
	return err
}

// isAbout reports whether a memo or proof is about one of the packages. The seal does not matter: the
// answer only decides whether the file is kept.
func isAbout(dir, name string, packages map[string]bool) bool {
	root, err := pathsafe.OpenRoot(dir)
	if err != nil {
		return false
	}
	defer root.Close()
	sealed, err := atomicfile.Read(root, name, maxRecord)
	_, text, _ := bytes.Cut(sealed, []byte("\n"))
	var h1 hashing.Hash
	if err == nil && json.Unmarshal(text, &h1) != nil {
		var record struct{ H1 hashing.Hash }
		err = json.Unmarshal(text, &record)
		h1 = record.H1
	}
	return err == nil && h1 != "" && packages[providerName(h1)]
}
