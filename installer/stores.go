package installer

import (
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/internal/store/artifact"
	"github.com/cotterpin/cotter/ocistore"
)

// PackageStore has packages of locks, in addition to their origins: a bundle, a mirror, or another
// implementation. Its Info says which entries it may confirm; the zero value confirms nothing.
type PackageStore = ocistore.Store

func checkStatement(s artifact.Statement, tree *store.Tree) error {
	if mismatch := mismatchOf(s.Hashes, tree); mismatch != nil {
		mismatch.Package = s.Package
		return mismatch
	}
	return nil
}

// mismatchOf returns an error with those of the hashes that a tree does not have; nil if it has all of its
// schemes.
func mismatchOf(hashes []hashing.Hash, tree *store.Tree) *HashMismatchError {
	mismatch := &HashMismatchError{}
	for _, want := range hashes {
		if got := tree.Hash(want.Scheme()); got != "" && got != want {
			mismatch.Want, mismatch.Got = append(mismatch.Want, want), append(mismatch.Got, got)
		}
	}
	if mismatch.Want == nil {
		return nil
	}
	return mismatch
}
