package versions_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	goversions "github.com/apparentlymart/go-versions/versions"
	ruby "github.com/apparentlymart/go-versions/versions/constraints"
	goversion "github.com/hashicorp/go-version"
	"pgregory.net/rapid"

	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/versions"
)

const providerOffers = "0.1.0 0.2.0 1.0.0 1.0.5 1.2.3-beta1 1.2.3 1.2.4-rc.1 1.3.0 2.0.0 2.1.0+build 3.0.0 3.1.0-alpha"

func parseAll(t testing.TB, list string) []versions.Version {
	t.Helper()
	var all []versions.Version
	for _, text := range strings.Fields(list) {
		v, err := versions.ParseProviderVersion(text)
		testenv.Must(t, err)
		all = append(all, v)
	}
	return all
}

// Each row has a constraint, the form in which tofu writes it, and the versions that it selects
// from providerOffers.
func TestProviderConstraints(t *testing.T) {
	t.Parallel()
	const same = "same"
	offered := parseAll(t, providerOffers)
	for _, row := range []struct {
		inputs            []string
		written, selected string
	}{
		{[]string{"1.0", "1", "= 1.0.0", "=1.0.0", "1.0.0 "}, "1.0.0", "1.0.0"},
		{[]string{"~> 1"}, "~> 1.0", "1.3.0"},
		{[]string{"~> 1.2"}, "~> 1.2", "1.3.0"},
		{[]string{"~> 1.2.3"}, "~> 1.2.3", "1.2.3"},
		{[]string{"~>1.2.0"}, "~> 1.2.0", "1.2.3"},
		{[]string{"~> 0"}, "~> 0.0", "0.2.0"},
		{[]string{">= 1, < 3", "< 3, >= 1"}, ">= 1.0.0, < 3.0.0", "2.1.0+build"},
		{[]string{">=1.0.0,>=1.0,>=1"}, ">= 1.0.0", "3.0.0"},
		{[]string{">=1.0.0 , <2.0.0"}, ">= 1.0.0, < 2.0.0", "1.3.0"},
		{[]string{">= 01.0"}, ">= 1.0.0", "3.0.0"},
		{[]string{"!= 3.0.0"}, "!= 3.0.0", "2.1.0+build"},
		{[]string{">= 1.0.0, != 1.2.3, < 2.0.0"}, same, "1.3.0"},
		{[]string{"> 1"}, "> 1.0.0", "3.0.0"},
		{[]string{"<= 2"}, "<= 2.0.0", "2.0.0"},
		{[]string{"> 1.0.0, > 1.0.0, < 3.0.0, <= 3.0.0"}, "> 1.0.0, <= 3.0.0, < 3.0.0", "2.1.0+build"},
		{[]string{"~> 1.0.0, ~> 1.0"}, "~> 1.0.0, ~> 1.0", "1.0.5"},
		{[]string{"~> 1.0, ~> 1.2"}, same, "1.3.0"},
		{[]string{"= 1.0, >= 1.0, <= 1.0"}, ">= 1.0.0, 1.0.0, <= 1.0.0", "1.0.0"},
		{[]string{"!= 1.0.0, != 1.0.0, 2.0.0"}, "!= 1.0.0, 2.0.0", "2.0.0"},
		{[]string{">= 0", ">= 0.0.0"}, ">= 0.0.0", "3.0.0"},
		{[]string{"1.2.3-beta1"}, same, "1.2.3-beta1"},
		{[]string{">= 1.2.3-beta1"}, same, "3.0.0"},
		{[]string{"~> 1.2.3-beta1"}, same, "1.2.3"},
		{[]string{"~> 1.2-beta1"}, same, "1.3.0"},
		{[]string{"<= 1.2.3-beta1", "< 1.2.3"}, same, "1.0.5"},
		{[]string{"1.2.4-rc.1, >= 1.0.0"}, ">= 1.0.0, 1.2.4-rc.1", "1.2.4-rc.1"},
		{[]string{"2.1.0+build"}, same, "2.1.0+build"},
		{[]string{">= 2.1.0+build"}, same, "3.0.0"},
		{[]string{"~> 1.2.3-beta1+x"}, same, "1.2.3"},
	} {
		for _, input := range row.inputs {
			written := row.written
			if written == same {
				written = input
			}
			c, err := versions.ParseProviderConstraints(input)
			if err != nil || c.String() != written {
				t.Errorf("ParseProviderConstraints(%q) = %q, %v, want %q", input, c, err, written)
			}
			if got, err := versions.SelectProvider(offered, c); err != nil || got.String() != row.selected {
				t.Errorf("SelectProvider by %q = %s, %v, want %s", input, got, err, row.selected)
			}
		}
	}
}

func TestParseProviderConstraintsErrors(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{
		"":                        "a constraint is missing",
		">= 1.0,":                 "a constraint is missing",
		", >= 1.0":                "a constraint is missing",
		"*":                       "wildcards",
		">= 1.*":                  "wildcards",
		"^1.0":                    "the operators are",
		">= 1 < 3":                "separated by commas",
		"1.0 || 2.0":              "alternatives",
		"== 1.0":                  "the operators are",
		"=> 1.0":                  "the operators are",
		"!1.0":                    "the operators are",
		">= 99999999999999999999": "not a version",
		"v1.0.0":                  `no leading "v"`,
		"1.0, >= v1.0.0":          `no leading "v"`,
		"1.2.3.4":                 "at most three numbers",
		"1.2.3beta1":              "not a provider's version",
		">=  1.0":                 "at most one space",
		">=\t1.0":                 "not a provider's version",
	} {
		c, err := versions.ParseProviderConstraints(input)
		var invalid *versions.ParseError
		if !errors.As(err, &invalid) || !strings.Contains(err.Error(), want) || invalid.Input != input {
			t.Errorf("ParseProviderConstraints(%q) = %v, %v, want %q", input, c, err, want)
		}
	}
}

func TestSelectProvider(t *testing.T) {
	t.Parallel()
	const prereleases, builds = "1.0.0 1.1.0-beta1 1.1.0-rc.1 1.1.0-rc.2", "1.0.0 1.0.0+b1 1.0.0+b2"
	for _, row := range []struct{ offered, constraint, want string }{
		{"1.9.0 1.10.0 1.2.0", "", "1.10.0"},
		{prereleases, "", "1.0.0"},
		{prereleases, "~> 1.0", "1.0.0"},
		{prereleases, ">= 1.0", "1.0.0"},
		{prereleases, "1.1.0-rc.1", "1.1.0-rc.1"},
		{prereleases, ">= 1.1.0-beta1", ""},
		{prereleases, "~> 1.1.0-rc.1", ""},
		{prereleases, "> 1.0.0-alpha, < 2.0.0", "1.0.0"},
		{"1.0.0-a 1.0.0-b", "", ""},
		{"1.0.0-a 1.0.0-b", ">= 0.1", ""},
		{"1.0.0-a 1.0.0-b", ">= 1.0.0-alpha", ""},
		{"1.0.0-a 1.0.0-b", "1.0.0-a", "1.0.0-a"},
		{builds, "1.0.0", "1.0.0"},
		{builds, "1.0.0+b1", "1.0.0+b1"},
		{builds, "", "1.0.0+b2"}, // stock tools select any of these
		{builds, ">= 1.0.0", "1.0.0+b2"},
		{"1.0.0 1.0.0", "", "1.0.0"},
		{"0.0.0", "0.0.0", ""},
		{"0.0.0", "", ""},
		{"", "", ""},
		{"1.0.0 2.0.0", "~> 3.0", ""},
		{"1.0.0 2.0.0", ">= 2.0, < 2.0", ""},
	} {
		var want versions.ProviderConstraints
		if row.constraint != "" {
			var err error
			if want, err = versions.ParseProviderConstraints(row.constraint); err != nil {
				t.Fatal(err)
			}
		}
		offered := parseAll(t, row.offered)
		for range 4 {
			rand.Shuffle(len(offered), func(i, j int) { offered[i], offered[j] = offered[j], offered[i] })
			got, err := versions.SelectProvider(offered, want)
			if got.String() != row.want || (err == nil) != (row.want != "") {
				t.Errorf("SelectProvider(%v, %q) = %q, %v, want %q", offered, row.constraint, got, err, row.want)
			}
			var noMatch *versions.NoProviderMatchError
			if err != nil && !errors.As(err, &noMatch) {
				t.Errorf("SelectProvider(%v, %q): error %v, want a *NoProviderMatchError", offered, row.constraint, err)
			}
		}
	}
}

func TestNoProviderMatchError(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ offered, constraint, want string }{
		{"1.0.0 2.0.0 3.0.0-rc.1", "~> 3.0, >= 2.0", `no version meets the constraint ">= 2.0.0, ~> 3.0"; offered: 3.0.0-rc.1, 2.0.0, 1.0.0; the pre-release 3.0.0-rc.1 would match if it were pinned exactly: "3.0.0-rc.1"`},
		{"1.0.0-rc.1", "", `offers only pre-releases; offered: 1.0.0-rc.1; the pre-release 1.0.0-rc.1 would match if it were pinned exactly: "1.0.0-rc.1"`},
		{"", "~> 3.0", "offers no versions"},
		{"0.0.0", "0.0.0", `no version meets the constraint "0.0.0"; offered: 0.0.0; 0.0.0 stands for no version and is never selected`},
		{"0.0.0 1.0.0", "2.0.0", `no version meets the constraint "2.0.0"; offered: 1.0.0, 0.0.0`},
		{
			"1.0.0 1.1.0 1.2.0 1.3.0 2.3.0 2.4.0 2.5.0 3.0.0 3.1.0 3.2.0 3.3.0", "~> 2.1.0",
			`no version meets the constraint "~> 2.1.0"; nearest and newest of 11 offered: 3.3.0, 3.2.0, 3.1.0, 2.4.0, 2.3.0, 1.3.0, 1.2.0`,
		},
		{
			"1.0.0 1.1.0 1.2.0 1.3.0 2.3.0 2.4.0 2.5.0 3.0.0 3.1.0 3.2.0 3.3.0", "< 1.0.0",
			`no version meets the constraint "< 1.0.0"; nearest and newest of 11 offered: 3.3.0, 3.2.0, 3.1.0, 1.2.0, 1.1.0, 1.0.0`,
		},
	} {
		var want versions.ProviderConstraints
		if row.constraint != "" {
			want, _ = versions.ParseProviderConstraints(row.constraint)
		}
		if _, err := versions.SelectProvider(parseAll(t, row.offered), want); err == nil || err.Error() != row.want {
			t.Errorf("SelectProvider(%s, %q): error %v, want %q", row.offered, row.constraint, err, row.want)
		}
	}
}

func TestProviderConstraintsAnd(t *testing.T) {
	t.Parallel()
	parse := func(s string) versions.ProviderConstraints {
		c, err := versions.ParseProviderConstraints(s)
		testenv.Must(t, err)
		return c
	}
	var none versions.ProviderConstraints
	if all := none.And(none, none); !all.IsZero() || all.String() != "" || !all.Allows(versions.MustParse("1.0.0")) || all.Allows(versions.MustParse("1.0.0-a")) || all.Allows(versions.Version{}) {
		t.Errorf("no constraints together = %q", all)
	}
	all := none.And(parse("< 2.0"), parse(">= 1.0, != 1.5.0"), none, parse(">= 1"))
	if all.IsZero() || all.String() != ">= 1.0.0, != 1.5.0, < 2.0.0" {
		t.Errorf("And = %q", all)
	}
	for text, want := range map[string]bool{"0.9.0": false, "1.0.0": true, "1.5.0": false, "2.0.0": false, "1.2.3.4": false, "0.0.0": false} {
		if got := all.Allows(versions.MustParse(text)); got != want {
			t.Errorf("%q allows %s: %v, want %v", all, text, got, want)
		}
	}
}

func TestParseProviderVersion(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{
		"1.0.0": "1.0.0", "1.0": "1.0.0", "1.2.3-rc.1+b": "1.2.3-rc.1+b",
		"v1.0.0": "", "latest": "", "1.0.0.0": "", "1.0.0beta": "", "": "", " 1.0.0": "",
	} {
		v, err := versions.ParseProviderVersion(input)
		var invalid *versions.ParseError
		if v.String() != want || (err == nil) != (want != "") || err != nil && !errors.As(err, &invalid) {
			t.Errorf("ParseProviderVersion(%q) = %q, %v, want %q", input, v, err, want)
		}
	}
}

// TestSelectProviderLikeStock compares the results with those of the stock tools' two libraries:
// the first parses constraints in the configuration, and the second selects versions.
func TestSelectProviderLikeStock(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		version := rapid.StringMatching(`[0-2]\.[0-2](\.[0-2])?(-(rc|beta)\.?[12])?(\+[ab])?`)
		part := rapid.Custom(func(t *rapid.T) string {
			operator := rapid.SampledFrom([]string{"", "=", "!=", "!= ", "> ", ">=", ">=  ", "<", "<= ", "~>", "~> ", "= v"}).Draw(t, "operator")
			return operator + version.Draw(t, "version")
		})
		constraint := strings.Join(rapid.SliceOfN(part, 1, 3).Draw(t, "parts"), rapid.SampledFrom([]string{",", " , ", ",,"}).Draw(t, "comma"))
		_, moduleErr := goversion.NewConstraint(constraint)
		spec, providerErr := ruby.ParseRubyStyleMulti(constraint)
		want, err := versions.ParseProviderConstraints(constraint)
		if (err == nil) != (moduleErr == nil && providerErr == nil) {
			t.Fatalf("ParseProviderConstraints(%q): error %v, stock tools have %v and %v", constraint, err, moduleErr, providerErr)
		}
		if err != nil {
			return
		}
		var offered []versions.Version
		var stock goversions.List
		for _, text := range rapid.SliceOfN(version, 0, 8).Draw(t, "offered") {
			v := versions.MustParse(text)
			offered = append(offered, v)
			stock = append(stock, goversions.MustParseVersion(v.String()))
		}
		best := stock.NewestInSet(goversions.MeetingConstraints(spec))
		got, err := versions.SelectProvider(offered, want)
		if (err != nil) != (best == goversions.Unspecified) {
			t.Fatalf("SelectProvider(%v, %q) = %v, %v; stock tools select %s", offered, constraint, got, err, best)
		}
		if err == nil && !best.Same(goversions.MustParseVersion(got.String())) {
			t.Fatalf("SelectProvider(%v, %q) = %v, want %s", offered, constraint, got, best)
		}
	})
}

func FuzzParseProviderConstraints(f *testing.F) {
	for _, seed := range []string{"1.0", "~> 1.2-beta1, != 2", ">= 1, < 3", "~> 1.2.3-beta1+x", "> 01.0,<= 2"} {
		f.Add(seed)
	}
	probes := []versions.Version{versions.MustParse("1.2.0"), versions.MustParse("1.2.0-beta1"), versions.MustParse("0.9.0+b")}
	f.Fuzz(func(t *testing.T, s string) {
		c, err := versions.ParseProviderConstraints(s)
		if err != nil {
			return
		}
		again, err := versions.ParseProviderConstraints(c.String())
		if err != nil || again.String() != c.String() {
			t.Fatalf("ParseProviderConstraints(%q) = %q, and again %q, %v", s, c, again, err)
		}
		for _, v := range probes {
			if c.Allows(v) != again.Allows(v) {
				t.Errorf("%q and %q differ on %s", s, c, v)
			}
		}
	})
}
