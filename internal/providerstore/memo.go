package providerstore

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/evidence"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/atomicfile"
	"github.com/cotterpin/cotter/internal/dirstore"
	"github.com/cotterpin/cotter/internal/step"
	"github.com/cotterpin/cotter/versions"
)

// proof is the recorded hash of a directory with the state of its files.
type proof struct {
	// Boot names the boot of the system during which the files were hashed.
	Boot  string
	H1    hashing.Hash
	Files []fileState
}

// proof returns the recorded proof of a directory, whose path must not contain links. The proof
// is valid only if the files still have the recorded state.
func (s *Store) proof(dir string) (proof, bool) {
	var p proof
	ok := s.recall(proofName, dir, &p)
	return p, ok && p.Boot != "" && p.Boot == boot()
}

func (s *Store) prove(dir string, p proof) {
	if p.Boot = boot(); p.Boot != "" {
		s.remember(proofName, dir, p)
	}
}

// Release is what a source has stated about a package that this user got.
type Release struct {
	// Evidence is who confirmed the package, and when.
	Evidence evidence.Evidence
	// Archive is the zh of the package's archive, or "" if it came as a directory.
	Archive hashing.Hash
	H1      hashing.Hash
	// KeyID, Key, Weak and Hashes are copied from the source's authentication.
	KeyID, Key, Weak string
	Hashes           []hashing.Hash
}

// Statement returns the statement about a package that evidence is kept for.
func Statement(provider addrs.Provider, version versions.Version, platform addrs.Platform) string {
	return "release " + provider.String() + " " + version.String() + " " + platform.String()
}

// Release returns what [Store.RecordRelease] last recorded under the record of a [Statement] and
// its evidence. A lock or the source may refer to another package by now.
func (s *Store) Release(record string) (Release, bool) {
	var r Release
	ok := s.recall(memoName, record, &r)
	return r, ok
}

// RecordRelease records what a source has stated about a package with this [Statement]. It does
// nothing for evidence that later runs must not use, and for evidence of an earlier run.
func (s *Store) RecordRelease(statement string, r Release) {
	if !r.Evidence.Since.IsZero() {
		return
	}
	var memos evidence.Memos
	memos.Add(r.Evidence, statement)
	r.Evidence.Since = time.Now()
	for _, record := range memos.Take() {
		s.remember(memoName, record, r)
	}
}

// Hashes returns the hashes that [Store.RecordHashes] last recorded for a source and a [Statement].
// There is at least one.
func (s *Store) Hashes(source, statement string) ([]hashing.Hash, bool) {
	var hashes []hashing.Hash
	ok := s.recall(memoName, hashesOf(source, statement), &hashes)
	return hashes, ok && len(hashes) > 0
}

// RecordHashes records which hashes a source confirms for a package with this [Statement]. The
// lock records them too. source names the source.
func (s *Store) RecordHashes(source, statement string, hashes []hashing.Hash) {
	s.remember(memoName, hashesOf(source, statement), hashes)
}

func hashesOf(source, statement string) string { return "hashes from " + source + ": " + statement }

// UnpacksTo returns the h1 of the content of the archive with this zh, if this user has unpacked
// or hashed it before; otherwise it returns "".
func (s *Store) UnpacksTo(zh hashing.Hash) hashing.Hash {
	var h1 hashing.Hash
	if zh.Scheme() != "zh" || !s.recall(memoName, "archive "+string(zh), &h1) {
		return ""
	}
	return h1
}

// RecordArchive records the h1 of an archive's content. It does nothing if zh is "".
func (s *Store) RecordArchive(zh, h1 hashing.Hash) {
	if zh != "" {
		s.remember(memoName, "archive "+string(zh), h1)
	}
}

// Matches returns the locked hash that a package with this h1 matches: the h1 itself, or the zh
// of an archive with that content. It returns "" if none matches.
func (s *Store) Matches(h1 hashing.Hash, locked []hashing.Hash) hashing.Hash {
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

// maxMemo is the maximum size of a sealed file in bytes.
const maxMemo = 4 << 20

// recall reads the record of a subject into to. It reports whether there is a record that this
// user has written.
func (s *Store) recall(kind, subject string, to any) bool {
	if s.dir == "" {
		return false
	}
	dir, err := os.OpenRoot(filepath.Join(s.dir, kind))
	if err != nil {
		return false
	}
	defer dir.Close()
	name := s.key.Name("provider "+kind, subject)
	sealed, err := atomicfile.Read(dir, name, maxMemo)
	if err != nil {
		return false
	}
	text, err := s.key.Open(purpose(kind, subject), sealed)
	if err != nil || json.Unmarshal(text, to) != nil {
		return false
	}
	if info, err := dir.Stat(name); err == nil && s.writable && time.Since(info.ModTime()) > dirstore.UsedResolution {
		now := time.Now()
		_ = dir.Chtimes(name, now, now)
	}
	return true
}

// remember writes the record of a subject. It does nothing if the store is not writable. It
// ignores errors, because a missing record only costs time later.
func (s *Store) remember(kind, subject string, what any) {
	text, err := json.Marshal(what)
	if err != nil || !s.writable {
		return
	}
	sealed := s.key.Seal(purpose(kind, subject), text)
	dir, err := os.OpenRoot(filepath.Join(s.dir, kind))
	if err != nil || len(sealed) > maxMemo {
		return
	}
	defer dir.Close()
	name := s.key.Name("provider "+kind, subject)
	options := atomicfile.Options{Disposable: true, Step: "provider." + kind}
	if err := atomicfile.Write(dir, name, sealed, options); errors.Is(err, atomicfile.ErrIrregular) {
		_ = dir.RemoveAll(name)
		_ = atomicfile.Write(dir, name, sealed, options)
	}
}

func purpose(kind, subject string) string { return "provider " + kind + " of " + subject }

// Forget removes the proofs, memos and download locks that were last used before a time.
func (s *Store) Forget(before time.Time) error {
	var err error
	for _, kind := range []string{memoName, proofName, fetchName} {
		dir := filepath.Join(s.dir, kind)
		entries, readErr := os.ReadDir(dir)
		if s.dir == "" || errors.Is(readErr, fs.ErrNotExist) {
			continue
		}
		err = errors.Join(err, readErr)
		for _, entry := range entries {
			info, infoErr := entry.Info()
			if infoErr != nil || info.ModTime().After(before) {
				continue // another process removed it, or it is newer
			}
			e := step.Do("provider.forget.remove", func() error { return os.Remove(filepath.Join(dir, entry.Name())) })
			if !errors.Is(e, fs.ErrNotExist) {
				err = errors.Join(err, e)
			}
		}
	}
	return err
}
