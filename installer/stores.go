package installer

import (
	"github.com/cotterpin/cotter/internal/artifact"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/ocistore"
)

// PackageStore has packages of locks, in addition to their origins: a bundle, a mirror, or
// another implementation of its methods. Its Trust says which entries it may confirm; the
// zero Trust confirms nothing.
type PackageStore = ocistore.Store

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
