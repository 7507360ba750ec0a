package store

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/cotterpin/cotter/hashing"
)

const (
	// claimPoll is how often a waiting process asks again for a claim.
	claimPoll = 20 * time.Millisecond
	// claimNotice is how long a process waits before it says so.
	claimNotice = 5 * time.Second
	// maxAnswer bounds a file that anything may have written. A package has a
	// few warnings and submodules, each with a path of at most 4 KiB.
	maxAnswer = 4 << 20
)

// Claim is the right to fetch what has a key, which one goroutine at a time
// has among all processes that share the store. It also keeps what the
// last fetch brought, so that whoever waited need not fetch it as well.
type Claim struct{ file *flock.Flock }

// Answer is what an address led to. Its tree is worth what the name of a
// published tree is worth: see [Store.Read].
type Answer struct {
	// Tree is the t1 hash of the tree; "" if nothing was ever fetched.
	Tree hashing.Hash
	// Package is the immutable address, Revision the commit or digest in it,
	// if it has one. Neither holds a credential.
	Package, Revision string
	Archive           hashing.Hash
	Gitlinks          []string
	Warnings          []string
	// Asked is when the fetch began, and Done when it ended.
	Asked, Done time.Time
	// Failed is when a later fetch failed.
	Failed time.Time
}

// Claim waits until no other process fetches what has this key. Waiting ends
// with ctx; when it takes long, onWait is called once. Of the key, no more than
// a hash is written.
func (s Store) Claim(ctx context.Context, key string, onWait func()) (*Claim, error) {
	file, err := s.claimFile(key)
	if err != nil {
		return nil, err
	}
	short, cancel := context.WithTimeout(ctx, claimNotice)
	defer cancel()
	_, err = file.TryLockContext(short, claimPoll)
	if err != nil && short.Err() != nil && ctx.Err() == nil {
		onWait()
		_, err = file.TryLockContext(ctx, claimPoll)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("waiting for another process that fetches the same package: %w", err), file.Close())
	}
	return &Claim{file}, nil
}

// TryClaim is Claim without waiting: nil where another one has the claim.
func (s Store) TryClaim(key string) (*Claim, error) {
	file, err := s.claimFile(key)
	if err != nil {
		return nil, err
	}
	if ok, err := file.TryLock(); !ok || err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &Claim{file}, nil
}

func (s Store) claimFile(key string) (*flock.Flock, error) {
	if err := os.MkdirAll(s.claims(), 0o700); err != nil {
		return nil, err
	}
	name := fmt.Sprintf("%x", sha256.Sum256([]byte(key)))
	return flock.New(filepath.Join(s.claims(), name), flock.SetPermissions(0o600)), nil
}

func (s Store) claims() string { return filepath.Join(s.Dir, "fetch") }

// Last is what was recorded under the claim; the zero Answer where nothing was,
// or where a process was killed while it recorded.
func (c *Claim) Last() Answer {
	var last Answer
	text, err := os.ReadFile(c.answer())
	if err != nil || len(text) > maxAnswer || json.Unmarshal(text, &last) != nil {
		return Answer{}
	}
	return last
}

// Record keeps an answer for others. No part of one can be taken for an answer,
// so a process may be killed meanwhile.
func (c *Claim) Record(a Answer) error {
	text, err := json.Marshal(a)
	if err != nil || len(text) > maxAnswer {
		return err // it is not kept, and asked for again
	}
	return os.WriteFile(c.answer(), text, 0o600)
}

// answer is a file of its own: some systems let nobody read a locked one.
func (c *Claim) answer() string { return c.file.Path() + ".json" }

// Release gives the claim up.
func (c *Claim) Release() error { return c.file.Close() }

// ForgetAnswers removes what was recorded, and vouched for, before a time.
func (s Store) ForgetAnswers(before time.Time) error {
	return errors.Join(forget(s.claims(), before), forget(s.vouchers(), before))
}

// forget removes the files of a directory that are older than a time.
func forget(dir string, before time.Time) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, entry := range entries {
		info, infoErr := entry.Info()
		if infoErr != nil || info.ModTime().After(before) {
			continue // another process was faster, or it is too young
		}
		// One that is being waited for may go: at worst two processes fetch
		// the same.
		if e := os.Remove(filepath.Join(dir, entry.Name())); !errors.Is(e, os.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}
