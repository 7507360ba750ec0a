package addrs_test

import (
	"errors"
	"testing"

	"github.com/cotterpin/cotter/addrs"
)

func TestWithin(t *testing.T) {
	t.Parallel()
	tests := []struct{ source, from, want string }{
		{"./a", "", "a"},
		{"./a", "modules/x", "modules/x/a"},
		{"../y", "modules/x", "modules/y"},
		{"../..", "modules/x", "."},
		{"./.", "", "."},
		{"../y", ".", outside},
		{"../y", "", outside},
		{"../../../y", "modules/x", outside},
		{"./..", "", outside},
	}
	for _, test := range tests {
		got, err := addrs.ModuleSourceLocal(test.source).Within(test.from)
		if errors.Is(err, addrs.ErrOutsidePackage) {
			got = outside
		}
		if got != test.want {
			t.Errorf("ModuleSourceLocal(%q).Within(%q) = %q, %v, want %q", test.source, test.from, got, err, test.want)
		}
	}
}

func TestJoinSubdir(t *testing.T) {
	t.Parallel()
	tests := []struct{ outer, inner, want string }{
		{"", "", ""},
		{"a", "", "a"},
		{"", "a//b/", "a/b"},
		{"a", "b", "a/b"},
		{"a", "..", "."},
		{"*", "x", "*/x"},
		{"a", "/b", "a/b"},
		{"", "/b", "b"},
		{"/a", "b", "a/b"},
		{"", "/../b", "b"},
		{"", "..", outside},
		{"a", "../..", outside},
		{"..", "a", outside},
	}
	for _, test := range tests {
		got, err := addrs.JoinSubdir(test.outer, test.inner)
		if errors.Is(err, addrs.ErrOutsidePackage) {
			got = outside
		}
		if got != test.want {
			t.Errorf("JoinSubdir(%q, %q) = %q, %v, want %q", test.outer, test.inner, got, err, test.want)
		}
	}
}

func TestSplitSubdir(t *testing.T) {
	t.Parallel()
	tests := []struct{ addr, pkg, subdir string }{
		{"h.com/n?q=p", "h.com/n?q=p", ""},
		{"https://h.com/n//*?q=p", "https://h.com/n?q=p", "*"},
		{"https://h.com/n///../x//y", "https://h.com/n", "/../x//y"},
		{"https://h.com/n//", "https://h.com/n", ""},
		{"https://h.com/n?x=https://y//z", "https://h.com/n?x=https://y//z", ""},
		{"a//b://c", "a//b://c", ""},
		{"//x", "", "x"},
		{"", "", ""},
	}
	for _, test := range tests {
		if pkg, subdir := addrs.SplitSubdir(test.addr); pkg != test.pkg || subdir != test.subdir {
			t.Errorf("SplitSubdir(%q) = %q, %q, want %q, %q", test.addr, pkg, subdir, test.pkg, test.subdir)
		}
	}
}
