package lockfile_test

import (
	"fmt"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
)

func TestCompare(t *testing.T) {
	t.Parallel()
	module := func(key, version, constraints string, hash hashing.Hash) lockfile.Module {
		return lockfile.Module{Key: key, Version: versions.MustParse(version), Source: testenv.Source("example.com/acme/net/aws"), Constraints: parsed[versions.Constraints](t, constraints), Hashes: []hashing.Hash{hash}}
	}
	var old, updated lockfile.File
	for _, m := range []lockfile.Module{
		module("same", "1.0.0", "", hashA), module("gone", "1.0.0", "", hashA), module("moved", "1.0.0", "", hashA),
		module("content", "1.0.0", "", hashA), module("constraint", "1.0.0", "~> 1.0", hashA),
	} {
		old.SetModule(m)
	}
	for _, m := range []lockfile.Module{
		module("same", "1.0.0", "", hashA), module("added", "1.0.0", "", hashA), module("moved", "1.1.0", "", hashB),
		module("content", "1.0.0", "", hashB), module("constraint", "1.0.0", "1.0.0", hashA),
	} {
		updated.SetModule(m)
	}
	for _, p := range []lockfile.Provider{
		lockedProvider(t, "acme/same", "1.0.0", "", hashA, hashZ), lockedProvider(t, "acme/gone", "1.0.0", ""),
		lockedProvider(t, "acme/moved", "1.0.0", "", hashA), lockedProvider(t, "acme/more", "1.0.0", "", hashA),
		lockedProvider(t, "acme/other", "1.0.0", "", hashA),
	} {
		old.SetProvider(p)
	}
	for _, p := range []lockfile.Provider{
		lockedProvider(t, "acme/same", "1.0.0", "", hashZ, hashA), lockedProvider(t, "acme/added", "1.0.0", ""),
		lockedProvider(t, "acme/moved", "1.1.0", "", hashB), lockedProvider(t, "acme/more", "1.0.0", "", hashA, hashB),
		lockedProvider(t, "acme/other", "1.0.0", "", hashB, hashZ),
	} {
		updated.SetProvider(p)
	}
	modules, providers := lockfile.Compare(&old, &updated)
	var got []string
	for _, c := range modules {
		got = append(got, fmt.Sprintln(c.Key, c.Old != nil, c.New != nil, c.OtherContent()))
	}
	for _, c := range providers {
		added, removed := c.Hashes()
		got = append(got, fmt.Sprintln(c.Address.Type, c.Old != nil, c.New != nil, c.NoCommonHash(), len(added), len(removed)))
	}
	want := []string{
		"added false true false\n", "constraint true true false\n", "content true true true\n", "gone true false false\n", "moved true true false\n",
		"added false true false 0 0\n", "gone true false false 0 0\n", "more true true false 1 0\n", "moved true true false 1 1\n", "other true true true 2 1\n",
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("Compare (-want +got):\n%s", diff)
	}
	if modules, providers := lockfile.Compare(&old, &old); modules != nil || providers != nil {
		t.Errorf("Compare of equal locks = %v, %v", modules, providers)
	}
}

func TestCompareNil(t *testing.T) {
	t.Parallel()
	if modules, providers := lockfile.Compare(nil, nil); modules != nil || providers != nil {
		t.Errorf("Compare(nil, nil) = %v, %v", modules, providers)
	}
	var lock lockfile.File
	lock.SetModule(lockfile.Module{Key: "net"})
	if modules, _ := lockfile.Compare(nil, &lock); len(modules) != 1 || modules[0].Old != nil {
		t.Errorf("Compare(nil, lock) = %v", modules)
	}
}
