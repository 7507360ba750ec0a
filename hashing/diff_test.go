package hashing_test

import (
	"context"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cotterpin/cotter/hashing"
)

func TestDiff(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		want, got fstest.MapFS
		changes   hashing.Changes
	}{
		"nothing": {fstest.MapFS{"a": file("1")}, fstest.MapFS{"a": file("1")}, hashing.Changes{}},
		"all sorts": {
			fstest.MapFS{"a": file("1"), "b": file("2"), "c": file("3"), "d/e": file("4")},
			fstest.MapFS{"a": file("x"), "b": file("2"), "bb": file("5"), "d/e": executable("4"), "d/f": file("6")},
			hashing.Changes{Changed: []string{"a", "d/e"}, Vanished: []string{"c"}, Added: []string{"bb", "d/f"}},
		},
		"file for link": {
			fstest.MapFS{"a": file("1"), "b": link("a")}, fstest.MapFS{"a": file("1"), "b": file("1")},
			hashing.Changes{Changed: []string{"b"}},
		},
		"link elsewhere": {
			fstest.MapFS{"a": file("1"), "b": link("a"), "c": file("1")}, fstest.MapFS{"a": file("1"), "b": link("c"), "c": file("1")},
			hashing.Changes{Changed: []string{"b"}},
		},
		"only the file behind the link": {
			fstest.MapFS{"a": file("1"), "b": link("a")}, fstest.MapFS{"a": file("2"), "b": link("a")},
			hashing.Changes{Changed: []string{"a"}},
		},
		"filled directory": {
			fstest.MapFS{"d": emptyDir(), "d.x": file("")}, fstest.MapFS{"d/out": file(""), "d.x": file("")},
			hashing.Changes{Added: []string{"d/out"}},
		},
		"emptied directory": {
			fstest.MapFS{"d/out": file("")}, fstest.MapFS{"d": emptyDir()},
			hashing.Changes{Vanished: []string{"d/out"}},
		},
		"directories come and go": {
			fstest.MapFS{"a": emptyDir(), "c": emptyDir()}, fstest.MapFS{"b": emptyDir(), "c": emptyDir()},
			hashing.Changes{Vanished: []string{"a"}, Added: []string{"b"}},
		},
		"directory for file": {
			fstest.MapFS{"a": file("")}, fstest.MapFS{"a/b": file("")},
			hashing.Changes{Vanished: []string{"a"}, Added: []string{"a/b"}},
		},
		"all gone": {fstest.MapFS{"a": file("1")}, fstest.MapFS{}, hashing.Changes{Vanished: []string{"a"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := hashing.Diff(readTree(t, test.want), readTree(t, test.got))
			if diff := cmp.Diff(test.changes, got); diff != "" {
				t.Errorf("changes differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDiffAgreesWithT1(t *testing.T) {
	t.Parallel()
	small := rapid.Custom(func(t *rapid.T) fstest.MapFS {
		fsys := fstest.MapFS{"t": file("1")}
		for _, dir := range []string{"a", "a/b", "c"} {
			switch rapid.IntRange(0, 4).Draw(t, dir) {
			case 0:
				fsys[dir+"/f"] = file("1")
			case 1:
				fsys[dir+"/f"] = executable("1")
			case 2:
				fsys[dir+"/x"] = emptyDir()
			case 3:
				fsys[dir+"/x/l"] = link("..")
			}
		}
		return fsys
	})
	rapid.Check(t, func(t *rapid.T) {
		a, errA := hashing.ReadTree(context.Background(), small.Draw(t, "a"))
		b, errB := hashing.ReadTree(context.Background(), small.Draw(t, "b"))
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		changes := hashing.Diff(a, b)
		if changes.Empty() != (a.T1() == b.T1()) {
			t.Fatalf("trees %q and %q: changes %v, t1 %s and %s", paths(a), paths(b), changes, a.T1(), b.T1())
		}
		back := hashing.Diff(b, a)
		if diff := cmp.Diff(changes.Changed, back.Changed); diff != "" {
			t.Fatalf("changed files depend on the direction:\n%s", diff)
		}
	})
}

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
