package addrs_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
)

func TestModule(t *testing.T) {
	t.Parallel()
	var root addrs.Module
	if !root.IsRoot() || root.String() != "" {
		t.Errorf("the root module is %q, IsRoot() = %v", root, root.IsRoot())
	}
	network := root.Child("network")
	a, b := network.Child("a"), network.Child("b")
	if network.String() != "network" || a.String() != "network.a" || b.String() != "network.b" || a.IsRoot() {
		t.Errorf("Child: %q, %q, %q", network, a, b)
	}
}

func TestParseModule(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]addrs.Module{
		"test.01-a.x":  {"test", "01-a", "x"},
		"test.tests.-": {"test", "tests", "-"},
		"":             nil,
		"vpc":          {"vpc"},
		"app.net-1._x": {"app", "net-1", "_x"},
		"réseau.日本":    {"réseau", "日本"},
	} {
		got, err := addrs.ParseModule(key)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("ParseModule(%q) = %v, %v\n%s", key, got, err, diff)
		}
		if got.String() != key {
			t.Errorf("ParseModule(%q).String() = %q", key, got)
		}
	}
	for _, key := range []string{".", "a.", ".a", "a..b", "1a", "-a", "a/b", `a\b`, "..", "a b", "a\x00", "a\xff", "a\n", "*", "a:b",
		"01-a.test", "a.01-a", "test..x", "test.a/b", "test.a b", "test.é\x00"} {
		got, err := addrs.ParseModule(key)
		var parseError *addrs.ParseError
		if !errors.As(err, &parseError) || got != nil {
			t.Errorf("ParseModule(%q) = %v, %v, want a *ParseError", key, got, err)
		}
	}
}
