package hashing_test

import (
	"testing"

	"github.com/cotterpin/cotter/hashing"
)

// A nil tree was not read: it has no entries and no hash that could confirm one.
func TestNilTree(t *testing.T) {
	t.Parallel()
	var none *hashing.Tree
	if h1, t1 := none.H1(), none.T1(); h1 != "" || t1 != "" {
		t.Errorf("the hashes of a nil tree are %q and %q", h1, t1)
	}
	some := &hashing.Tree{Entries: []hashing.Entry{{Path: "main.tf"}}}
	if d := hashing.Diff(nil, nil); !d.Empty() {
		t.Errorf("Diff(nil, nil) = %+v", d)
	}
	if d := hashing.Diff(some, nil); len(d.Vanished) != 1 {
		t.Errorf("Diff(some, nil) = %+v", d)
	}
	if d := hashing.Diff(nil, some); len(d.Added) != 1 {
		t.Errorf("Diff(nil, some) = %+v", d)
	}
}
