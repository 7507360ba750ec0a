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
	// patience is how long a process waits before it says so.
	patience = 5 * time.Second
	// maxAnswer bounds the file of an answer. A package has a few warnings and
	// submodules, each with a path of at most 4 KiB.
	maxAnswer = 4 << 20
)

// Answer is what an address meant when it was last fetched. Its tree counts as
// any published tree does: see [Cache.Read].
type Answer struct {
	// Tree is the t1 hash of the tree; "" if nothing was ever fetched.
	Tree hashing.Hash
	// Package is the immutable address, Revision the commit or digest in it,
	// if it has one. Neither holds a credential.
	Package, Revision string
	Archive           hashing.Hash
	Gitlinks          []string
	// LeftOut are the links that are not part of the tree.
	LeftOut  []Link
	Warnings []string
	// Asked is when the fetch began, and Done when it ended.
	Asked, Done time.Time
	// Failed is when a later fetch failed.
	Failed time.Time
}

// Link is a symbolic link of a package that its tree does not have, and why.
type Link struct{ Path, Target, Reason string }

// Fetch is the right to fetch what has a key, which one goroutine at a time has
// among all processes that share the cache. It also keeps what the last fetch
// brought, so that a process that waited need not fetch it as well.
type Fetch struct {
	cache *Cache
	lock  *filelock.Lock
	name  string // of the answer's file
}

// Fetch waits until no other process fetches what has this key. Waiting ends
// with ctx; when it takes long, onWait is called once. Of the key, no more than
// a hash is written.
func (c *Cache) Fetch(ctx context.Context, key string, onWait func()) (*Fetch, error) {
	f := c.fetch(key)
	if err := f.lock.Exclusive(ctx, patience, onWait); err != nil {
		return nil, fmt.Errorf("waiting for another process that fetches the same package: %w", err)
	}
	return f, nil
}

// TryFetch is [Cache.Fetch] without waiting: nil if another process has the right.
func (c *Cache) TryFetch(key string) (*Fetch, error) {
	f := c.fetch(key)
	ok, err := f.lock.TryExclusive()
	if !ok || err != nil {
		return nil, err
	}
	return f, nil
}

// answerFormat is part of the names of answers. It changes whenever the tree of a
// package is made in another way, so that no older answer is used. Format 2 applies
// the attributes that git packages have.
const answerFormat = "2 "

func (c *Cache) fetch(key string) *Fetch {
	name := fmt.Sprintf("%x", sha256.Sum256([]byte(answerFormat+key)))
	path := filepath.Join(c.dir, answersName, name)
	removeIrregular(path)
	return &Fetch{cache: c, lock: filelock.File(path), name: name + ".json"}
}

// removeIrregular removes what has the name of a file of ours and is none. What
// cannot be removed shows when it is used.
func removeIrregular(path string) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		_ = os.RemoveAll(path)
	}
}

// Last is what was recorded; the zero Answer if nothing was, if a process was
// killed while it recorded, or if this user has not recorded it.
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

// Record keeps an answer for other processes.
func (f *Fetch) Record(a Answer) error {
	text, err := json.Marshal(a)
	if err != nil {
		return err
	}
	sealed := f.cache.key.Seal(f.purpose(), text)
	if len(sealed) > maxAnswer {
		return nil // it is not kept, and asked for again
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

// purpose is part of what the seal covers: an answer is none to another key.
func (f *Fetch) purpose() string { return "answer to " + f.name }

// Release gives the right up.
func (f *Fetch) Release() error {
	err := f.lock.Release()
	if errors.Is(err, fs.ErrClosed) {
		return nil
	}
	return err
}
