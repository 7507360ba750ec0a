package getproviders_test

import (
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getproviders"
)

// provider parses an address.
func provider(t testing.TB, source string) addrs.Provider {
	t.Helper()
	p, err := addrs.ParseProviderSource(source)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPatterns(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		pattern, shown string
		matches        []string
		others         []string
	}{
		{
			"acme/x", "registry.opentofu.org/acme/x",
			[]string{"acme/x", "registry.opentofu.org/acme/x"},
			[]string{"acme/y", "other/x", "example.com/acme/x", "registry.terraform.io/acme/x"},
		},
		{
			"acme/*", "registry.opentofu.org/acme/*", // two parts mean the default host
			[]string{"acme/x", "acme/y"},
			[]string{"example.com/acme/x", "other/x"},
		},
		{"*/*", "registry.opentofu.org/*/*", []string{"acme/x", "null"}, []string{"example.com/acme/x"}},
		{"*/*/*", "*/*/*", []string{"acme/x", "example.com/acme/x", "localhost:8443/a/b"}, nil},
		{"example.com/*/*", "example.com/*/*", []string{"example.com/acme/x"}, []string{"acme/x", "example.com:8443/acme/x"}},
		{"example.com/acme/*", "example.com/acme/*", []string{"example.com/acme/x"}, []string{"example.com/other/x"}},
		{"EXAMPLE.com:443/ACME/X", "example.com/acme/x", []string{"example.com/acme/x"}, nil},
		{"localhost:8080/*/*", "localhost:8080/*/*", []string{"localhost:8080/a/b"}, []string{"localhost/a/b"}},
		{"bücher.example/a/b", "bücher.example/a/b", []string{"bücher.example/a/b"}, nil},
		{"a/terraform-x", "registry.opentofu.org/a/terraform-x", nil, []string{"a/x"}},
	} {
		p, err := getproviders.ParsePattern(test.pattern, "")
		if err != nil || p.String() != test.shown {
			t.Errorf("ParsePattern(%q) = %q, %v, want %q", test.pattern, p, err, test.shown)
		}
		for want, sources := range map[bool][]string{true: test.matches, false: test.others} {
			for _, source := range sources {
				if p.Matches(provider(t, source)) != want {
					t.Errorf("%q matches %q: %v, want %v", test.pattern, source, !want, want)
				}
			}
		}
		if (getproviders.Pattern{}).Matches(addrs.Provider{Hostname: "a", Namespace: "b", Type: "c"}) {
			t.Error("the zero Pattern matches")
		}
	}
	for _, bad := range []string{
		"", "*", "null", "a/b/c/d", "*/b", "*/a/b", "*/*/b", "*/a/*", "example.com/*/b", "a/b*", "a b/c", "a_b/*", "a_b/x/y", "-/x", "a//b", "/a/b", "a/", "x*.com/a/b",
	} {
		if p, err := getproviders.ParsePattern(bad, ""); err == nil {
			t.Errorf("ParsePattern(%q) = %q, want an error", bad, p)
		}
	}
	terraform, err := getproviders.ParsePattern("acme/*", addrs.TerraformRegistryHost)
	if err != nil || !terraform.Matches(provider(t, "registry.terraform.io/acme/x")) {
		t.Errorf("with terraform's default host: %q, %v", terraform, err)
	}
	exact := getproviders.ExactPattern(provider(t, "acme/x"))
	if again, err := getproviders.ParsePattern(exact.String(), ""); again != exact || err != nil {
		t.Errorf("%q is read as %q, %v", exact, again, err)
	}
}

func FuzzParsePattern(f *testing.F) {
	for _, seed := range []string{"a/b", "*/*/*", "example.com:8443/a/*", "bücher.example/Straße/x", "a/b/c/d", "*"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := getproviders.ParsePattern(s, "")
		if err != nil {
			return
		}
		if again, err := getproviders.ParsePattern(p.String(), ""); err != nil || again != p {
			t.Errorf("ParsePattern(%q) = %q, which is read as %q, %v", s, p, again, err)
		}
	})
}
