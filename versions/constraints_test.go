package versions_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/versions"
)

func TestConstraintsString(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ in, want string }{
		{"1.0", "1.0"},
		{" =1.0 ", "= 1.0"},
		{">=1.0,<2", ">= 1.0, < 2"},
		{"~>\t1.2 ,\n!= v1.2.3-RC1+b", "~> 1.2, != v1.2.3-RC1+b"},
		{"<  2,  >=1", "< 2, >= 1"},
		{"01.00", "01.00"},
		{"1,1", "1, 1"},
	} {
		c, err := versions.ParseConstraints(test.in)
		if err != nil || c.String() != test.want {
			t.Errorf("ParseConstraints(%q) = %q, %v, want %q", test.in, c, err, test.want)
		}
	}
}

func TestMoveConstraint(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ in, to, want string }{
		{"~> 1.2", "2.1.5", "~> 2.1"},
		{"~>1.2.0", "2.1.5", "~>2.1.5"},
		{"~> 1", "0.9.1", "~> 0"},
		{" >=  1.2 ", "1.0.3", " >=  1.0"},
		{"= 1.2.3", "2.1.5", "= 2.1.5"},
		{"v1.2", "2.1.0", "v2.1"},
		{"1.2", "2.1.5", "2.1.5"},
		{"1.2.3.4", "2.0.0", "2.0.0"},
		{"1.2.3-rc1", "1.2.3", "1.2.3"},
		{"= 1.2.3", "2.0.0-rc.1", "= 2.0.0-rc.1"},
		{"~> 1.2", "2.0.0-rc.1", ""},
		{">= 1.2", "2.0.0-rc.1", ""},
		{">= 1, < 2", "2.1.0", ""},
		{"< 2", "2.1.0", ""},
		{"!= 2", "2.0.0", ""},
		{"newest", "2.0.0", ""},
	} {
		if got, ok := versions.MoveConstraint(test.in, versions.MustParse(test.to)); got != test.want || ok != (test.want != "") {
			t.Errorf("MoveConstraint(%q, %s) = %q, %t, want %q", test.in, test.to, got, ok, test.want)
		}
	}
}

func TestParseConstraintsErrors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ in, part, message string }{
		{"", "", `invalid version constraint "": a constraint is missing`},
		{">= 1.0, < 2.x", "< 2.x", `invalid version constraint "< 2.x" in ">= 1.0, < 2.x": wildcards`},
		{">= 1.0,", "", `a constraint is missing; remove the extra comma`},
		{">= 1.0 < 2.0", ">= 1.0 < 2.0", "separated by commas"},
		{"== 1.0", "== 1.0", "the operators are"},
		{"^1.0", "^1.0", "the operators are"},
		{">= 1 || 2", ">= 1 || 2", "alternatives are not supported"},
		{"1.0, >=", ">=", "no version after it"},
		{"latest", "latest", "not a version such as"},
		{"1.0, 99999999999999999999", "99999999999999999999", "not a version such as"},
		{"1.0, 1-" + strings.Repeat("a", 200), "1-" + strings.Repeat("a", 200), "at most 128 bytes"},
		{strings.Repeat("1,", 3000), strings.Repeat("1,", 3000), "at most 4096 bytes"},
		{"1.0-\x1b[31m", "1.0-\x1b[31m", `"1.0-\x1b[31m"`},
	} {
		_, err := versions.ParseConstraints(test.in)
		var invalid *versions.ParseError
		if !errors.As(err, &invalid) {
			t.Errorf("ParseConstraints(%q): error %v, want a *ParseError", test.in, err)
			continue
		}
		if invalid.Input != test.in || invalid.Part != test.part || !strings.Contains(err.Error(), test.message) {
			t.Errorf("ParseConstraints(%q): error %q with part %q, want %q with %q", test.in, err, invalid.Part, test.message, test.part)
		}
		if len(err.Error()) > 600 {
			t.Errorf("ParseConstraints(%.20q...): the message has %d bytes", test.in, len(err.Error()))
		}
	}
}

func TestZeroConstraints(t *testing.T) {
	t.Parallel()
	var none versions.Constraints
	if !none.IsZero() || none.String() != "" {
		t.Errorf("zero Constraints: IsZero = %v, String = %q", none.IsZero(), none)
	}
	for text, want := range map[string]bool{"0.0.0": true, "9.9.9+b": true, "1.0.0-rc1": false, "": false} {
		if got := none.Allows(parseOrZero(text)); got != want {
			t.Errorf("zero Constraints allow %q: %v, want %v", text, got, want)
		}
	}
	if versions.MustParseConstraints("!= 1.0").Allows(versions.Version{}) {
		t.Error("no version is allowed because it is not 1.0")
	}
}

func TestExample(t *testing.T) {
	t.Parallel()
	for constraints, want := range map[string]string{
		"1.2.3":                            "1.2.3",
		"~> 1.2":                           "1.2.0",
		"~> 2.0.1, != 2.0.1":               "2.0.2",
		">= 1.0.0, < 2.0.0":                "1.0.0",
		"> 1.0, < 1.1":                     "1.0.1",
		"> 1.9.9, < 2.0.0":                 "1.9.10",
		"< 0.5":                            "0.0.0",
		"<= 3":                             "3.0.0",
		"!= 0.0.0":                         "0.0.1",
		"> 1.0.0, != 1.0.1, != 1.0.2, < 2": "1.0.3",
		"= 1.0.0-rc1":                      "1.0.0-rc1",
		">= 1.0.0-rc1":                     "1.0.0",
		"> 2, < 1":                         "",
	} {
		c, err := versions.ParseConstraints(constraints)
		testenv.Must(t, err)
		if got := c.Example(); got.String() != want {
			t.Errorf("%q: %q, want %q", constraints, got, want)
		}
	}
	if got := (versions.Constraints{}).Example(); got.String() != "0.0.0" {
		t.Errorf("no constraints: %q", got)
	}
}

func FuzzParseConstraints(f *testing.F) {
	for _, test := range readTables(f) {
		f.Add(test.constraint)
	}
	probes := []versions.Version{versions.MustParse("1.2.0"), versions.MustParse("1.2.0-beta1"), versions.MustParse("0.9.0+b")}
	f.Fuzz(func(t *testing.T, s string) {
		c, err := versions.ParseConstraints(s)
		if err != nil {
			return
		}
		again, err := versions.ParseConstraints(c.String())
		if err != nil || again.String() != c.String() {
			t.Fatalf("ParseConstraints(%q) = %q, %v, want the same", c, again, err)
		}
		for _, v := range probes {
			if c.Allows(v) != again.Allows(v) {
				t.Errorf("%q and %q differ on %s", s, c, v)
			}
		}
	})
}
