package addrs_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
)

func TestParseHostname(t *testing.T) {
	t.Parallel()
	tests := []struct{ input, want, display string }{
		{"Reg.EXAMPLE.com", "reg.example.com", "reg.example.com"},
		{"reg.example.com:443", "reg.example.com", "reg.example.com"},
		{"reg.example.com:0443", "reg.example.com", "reg.example.com"},
		{"reg.example.com:+8443", "reg.example.com:8443", "reg.example.com:8443"},
		{"reg.example.com:0", "reg.example.com:0", "reg.example.com:0"},
		{"reg.example.com:65535", "reg.example.com:65535", "reg.example.com:65535"},
		{"reg.example.com.", "reg.example.com.", "reg.example.com."},
		{"localhost", "localhost", "localhost"},
		{"127.0.0.1:8080", "127.0.0.1:8080", "127.0.0.1:8080"},
		{"Bücher.example:8443", "xn--bcher-kva.example:8443", "bücher.example:8443"},
		{"ｅｘａｍｐｌｅ.com", "example.com", "example.com"},
		{"faß.example", "xn--fa-hia.example", "faß.example"},
		{"XN--BCHER-KVA.example", "xn--bcher-kva.example", "bücher.example"}, // only lower case is refused
	}
	for _, input := range []string{
		"", ":80", ".", "a..b", "xn--bcher-kva.example", "under_score.com", "*.example.com", "-a.com",
		"a b.com", "reg.example.com:", "reg.example.com:x", "reg.example.com:65536", "reg.example.com:-1",
		"[::1]:80", "::1", "https://reg.example.com", "http:x", "tok@reg.example.com", "reg.ex\xffample.com",
	} {
		tests = append(tests, struct{ input, want, display string }{input: input})
	}
	for _, test := range tests {
		host, err := addrs.ParseHostname(test.input)
		if _, isParseError := errors.AsType[*addrs.ParseError](err); string(host) != test.want || isParseError != (test.want == "") {
			t.Errorf("ParseHostname(%q) = %q, %v, want %q", test.input, host, err, test.want)
		}
		if got := host.ForDisplay(); got != test.display {
			t.Errorf("ParseHostname(%q).ForDisplay() = %q, want %q", test.input, got, test.display)
		}
	}
}

// Printing a host that was never parsed must not panic.
func TestUnparsedHost(t *testing.T) {
	t.Parallel()
	pkg := addrs.ModuleRegistryPackage{Host: "xn--\xff:1", Namespace: "a", Name: "b", TargetSystem: "c"}
	if got := pkg.String(); !strings.HasSuffix(got, ":1/a/b/c") {
		t.Errorf("String() = %q", got)
	}
}

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
		// As stock tools write the keys of modules that tests run.
		"test.tests.vpc.unit.x":             {"test", "tests", "vpc", "unit", "x"},
		"test.tests.a.tofutest.hcl.x":       {"test", "tests", "a", "tofutest", "hcl", "x"},
		"test.tests.sp ace.x":               {"test", "tests", "sp ace", "x"},
		"test.tests.\u00a0\u3000.x":         {"test", "tests", "\u00a0\u3000", "x"},
		"test.qa.unit.a..b.x":               {"test", "qa", "unit", "a", "", "b", "x"},
		"test....qa.a.x":                    {"test", "", "", "", "qa", "a", "x"}, // ../qa/a.tftest.hcl
		"test.tests.+,(@='&\"$#%:*?<|>)!.x": {"test", "tests", "+,(@='&\"$#%:*?<|>)!", "x"},
		"":                                  nil,
		"vpc":                               {"vpc"},
		"app.net-1._x":                      {"app", "net-1", "_x"},
		"réseau.日本":                         {"réseau", "日本"},
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
		"01-a.test", "a.01-a", "test.a/b", "test.a/b.x", `test.a\b.x`, "test.a b", "test.x.", "test..", "a..x", "a. .x",
		"test.é\x00", "test.a\n.x", "test.a\x00.x", "test.a\xff.x", "test.a\u202e.x", "test.a\u2028.x", "test.a\u0085.x"} {
		got, err := addrs.ParseModule(key)
		var parseError *addrs.ParseError
		if !errors.As(err, &parseError) || got != nil {
			t.Errorf("ParseModule(%q) = %v, %v, want a *ParseError", key, got, err)
		}
	}
}
