package store

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/disk/treewriter"
	"github.com/cotterpin/cotter/internal/text/textform"
)

const fetchNotice = 5 * time.Second

// Answer is the result of the last fetch of an address. Its tree must be verified; see [Modules.Read].
type Answer struct {
	// Tree is a t1 hash; "" if no fetch has succeeded.
	Tree hashing.Hash
	// Package is the immutable address, and Revision the commit or digest in it, without credentials.
	Package, Revision string
	Archive           hashing.Hash
	Gitlinks          []textform.Path
	LeftOut           []treewriter.Link
	Warnings          []string
	// Asked and Done are when the fetch started and ended.
	Asked, Done time.Time
	// Failed is when a later fetch failed.
	Failed time.Time
}

// LockFetch takes an exclusive lock, among all processes that share the cache, on fetching the package with
// a key. It waits until ctx is done, and calls onWait once if that takes long. Only a hash of the key is on
// disk.
func (m *Modules) LockFetch(ctx context.Context, key string, onWait func()) (release func() error, err error) {
	lock := m.fetchLock(fetchFile(key))
	if err := lock.Exclusive(ctx, fetchNotice, onWait); err != nil {
		return nil, fmt.Errorf("waiting for another process that fetches the same package: %w", err)
	}
	return lock.Release, nil
}

// Answer returns what this user has recorded under a key, or the zero Answer, also for a damaged record.
func (m *Modules) Answer(key string) Answer {
	var last Answer
	if m.readRecord(answerTo(key), &last) != nil {
		return Answer{}
	}
	return last
}

func (m *Modules) RecordAnswer(key string, a Answer) error { return m.writeRecord(answerTo(key), a) }

// answerFormat is part of the names of answers. It changes whenever trees are made differently. Since
// format 2, the attributes of git packages are applied.
const answerFormat = "2 "

func fetchFile(key string) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(answerFormat+key)))
}

func answerTo(key string) record {
	name := fetchFile(key) + ".json"
	return record{dir: fetchName, name: name, purpose: "answer to " + name}
}
