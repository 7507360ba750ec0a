package cotter

import (
	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/artifact"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/ocistore"
)

// PackageStore has packages of locks, in addition to their origins: a bundle, a mirror, or
// another implementation of its methods. Its Trust says which entries it may confirm; the
// zero Trust confirms nothing.
type PackageStore = ocistore.Store

// StoreEntry describes the artifact that a store has for one entry of a lock.
type StoreEntry struct {
	// Source, Version, Package and Hashes are copied from the entry. For a provider, Source
	// is its address, Package is empty, and Hashes are those of the package for Platform.
	Source, Version, Package string
	Hashes                   []hashing.Hash
	// Platform is zero for modules.
	Platform addrs.Platform
	// Tag is the tag of the artifact.
	Tag string
	// Err says why the artifact does not match its entry; nil if it does.
	Err error
}

// checkStatement compares a tree with the hashes of a statement.
func checkStatement(s artifact.Statement, tree *store.Tree) error {
	mismatch := &HashMismatchError{Package: s.Package}
	for _, scheme := range []string{"h1", "t1"} {
		if want, got := s.Hash(scheme), tree.Hash(scheme); want != "" && got != want {
			mismatch.Want, mismatch.Got = append(mismatch.Want, want), append(mismatch.Got, got)
		}
	}
	if mismatch.Want != nil {
		return mismatch
	}
	return nil
}
