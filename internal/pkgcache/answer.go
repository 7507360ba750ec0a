package pkgcache

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/atomicfile"
	"github.com/cotterpin/cotter/internal/filelock"
)

const (
	// waitNotice is how long a process waits before it calls onWait.
	waitNotice = 5 * time.Second
	// maxAnswer is the maximum size of an answer's file in bytes. A package has a few warnings and
	// submodules, each with a path of at most 4 KiB.
	maxAnswer = 4 << 20
)

// Answer is the result of the last fetch of an address. Its tree must be verified like any
// published tree; see [Cache.Read].
type Answer struct {
	// Tree is the t1 hash of the tree; "" if no fetch has succeeded.
	Tree hashing.Hash
	// Package is the immutable address. Revision is the commit or digest in it,
	// if it has one. Neither contains credentials.
	Package, Revision string
	Archive           hashing.Hash
	Gitlinks          []string
	// LeftOut lists the links that are not part of the tree.
	LeftOut  []Link
	Warnings []string
	// Asked is when the fetch started, and Done is when it ended.
	Asked, Done time.Time
	// Failed is when a later fetch failed.
	Failed time.Time
}

// Link is a symbolic link of a package that is not part of its tree, with the reason.
type Link struct{ Path, Target, Reason string }

// Fetch is an exclusive lock on fetching the package with a key. Only one goroutine among all
// processes that share the cache can hold it. It also gives access to the answer of the last
// fetch, so that a process that has waited for the lock can use it instead of fetching again.
type Fetch struct {
	cache *Cache
	lock  *filelock.Lock
	name  string // the answer's file name
}

// Fetch waits until no other process fetches the package with this key. The wait ends early if
// ctx is done. Fetch calls onWait once if the wait is long. Only a hash of the key is written to
// disk.
func (c *Cache) Fetch(ctx context.Context, key string, onWait func()) (*Fetch, error) {
	f := c.fetch(key)
	if err := f.lock.Exclusive(ctx, waitNotice, onWait); err != nil {
		return nil, fmt.Errorf("waiting for another process that fetches the same package: %w", err)
	}
	return f, nil
}

// TryFetch is like [Cache.Fetch], but does not wait. It returns nil if another process holds the
// lock.
func (c *Cache) TryFetch(key string) (*Fetch, error) {
	f := c.fetch(key)
	ok, err := f.lock.TryExclusive()
	if !ok || err != nil {
		return nil, err
	}
	return f, nil
}

// answerFormat is part of the names of answers. It must change whenever the tree of a package is
// made differently, so that older answers are not used. Since format 2, the attributes of git
// packages are applied.
const answerFormat = "2 "

func (c *Cache) fetch(key string) *Fetch {
	name := fmt.Sprintf("%x", sha256.Sum256([]byte(answerFormat+key)))
	path := filepath.Join(c.dir, answersName, name)
	removeIrregular(path)
	return &Fetch{cache: c, lock: filelock.File(path), name: name + ".json"}
}

// removeIrregular removes the entry at path if it is not a regular file. If removing fails, using
// the entry will fail too.
func removeIrregular(path string) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		_ = os.RemoveAll(path)
	}
}

// Last returns the recorded answer. It returns the zero Answer if there is no answer, if the
// answer is incomplete, or if this user did not record it.
func (f *Fetch) Last() Answer {
	var last Answer
	err := f.inAnswers(func(answers *os.Root) error {
		sealed, err := atomicfile.Read(answers, f.name, maxAnswer)
		if err != nil {
			return err
		}
		text, err := f.cache.key.Open(f.purpose(), sealed)
		if err != nil {
			return err
		}
		return json.Unmarshal(text, &last)
	})
	if err != nil {
		return Answer{}
	}
	return last
}

// Record stores an answer for later fetches and other processes.
func (f *Fetch) Record(a Answer) error {
	text, err := json.Marshal(a)
	if err != nil {
		return err
	}
	sealed := f.cache.key.Seal(f.purpose(), text)
	if len(sealed) > maxAnswer {
		return nil // the package will be fetched again
	}
	removeIrregular(filepath.Join(f.cache.dir, answersName, f.name))
	return f.inAnswers(func(answers *os.Root) error {
		return atomicfile.Write(answers, f.name, sealed, atomicfile.Options{Disposable: true, Step: "cache.answer"})
	})
}

func (f *Fetch) inAnswers(do func(*os.Root) error) error {
	answers, err := os.OpenRoot(filepath.Join(f.cache.dir, answersName))
	if err != nil {
		return err
	}
	defer answers.Close()
	return do(answers)
}

// purpose returns the purpose of the seal, which binds an answer to its key.
func (f *Fetch) purpose() string { return "answer to " + f.name }

// Release releases the lock. Releasing it again is a no-op.
func (f *Fetch) Release() error {
	err := f.lock.Release()
	if errors.Is(err, fs.ErrClosed) {
		return nil
	}
	return err
}
