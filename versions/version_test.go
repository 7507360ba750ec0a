package versions_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	goversion "github.com/hashicorp/go-version"
	"pgregory.net/rapid"

	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/versions"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		in, want   string // want is "" for an error
		prerelease bool
	}{
		{in: "1.2.3", want: "1.2.3"},
		{in: "v1.2.3", want: "1.2.3"},
		{in: "1", want: "1.0.0"},
		{in: "v1.02", want: "1.2.0"},
		{in: "1.2.3.4", want: "1.2.3.4"},
		{in: "1.2.3-rc.1+b-2", want: "1.2.3-rc.1+b-2", prerelease: true},
		{in: "1.2.3+b-2", want: "1.2.3+b-2"},
		{in: "1.2beta1", want: "1.2.0-beta1", prerelease: true},
		{in: "1.2.3-01", want: "1.2.3-01", prerelease: true},
		{in: "1.0.0+" + strings.Repeat("a", 122), want: "1.0.0+" + strings.Repeat("a", 122)},
		{in: "1.0.0+" + strings.Repeat("a", 123)},
		{in: "1+" + strings.Repeat("a", 126)}, // 132 bytes in canonical form
		{in: ""}, {in: "v"}, {in: "vv1"}, {in: "V1"}, {in: " 1.0.0"}, {in: "1.0.0 "}, {in: "1.0.0\n"},
		{in: "latest"}, {in: "1.x"}, {in: "-1"}, {in: "1.0.0/../x"}, {in: "--upload-pack=id"},
		{in: "1.2.3-\x1b[31m"}, {in: "1.2.3-é"}, {in: "999999999999999999999.0.0"},
	} {
		v, err := versions.Parse(test.in)
		if v.String() != test.want || (err == nil) != (test.want != "") {
			t.Errorf("Parse(%q) = %q, %v, want %q", test.in, v, err, test.want)
		}
		if v.IsPrerelease() != test.prerelease || v.IsZero() != (test.want == "") {
			t.Errorf("Parse(%q): IsPrerelease = %v, IsZero = %v", test.in, v.IsPrerelease(), v.IsZero())
		}
		if err != nil && strings.Contains(err.Error(), "\x1b") {
			t.Errorf("Parse(%q): error %q has a raw control character", test.in, err)
		}
	}
}

func TestVersionIsComparable(t *testing.T) {
	t.Parallel()
	if versions.MustParse("v1.2") != versions.MustParse("1.2.0") {
		t.Error(`"v1.2" and "1.2.0" are different versions`)
	}
	if versions.MustParse("1.2.0+a") == versions.MustParse("1.2.0+b") {
		t.Error("metadata is not part of a version's identity")
	}
}

func TestMustParsePanics(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("MustParse(\"x\") did not panic")
		}
	}()
	versions.MustParse("x")
}

func TestCompare(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b string
		want int
	}{
		{"1.0.0", "1.0.0", 0},
		{"1.0.0", "1.0.1", -1},
		{"1.9.0", "1.10.0", -1},
		{"1.0.0+a", "1.0.0+b", 0},
		{"1.0.0", "1.0.0.0", 0},
		{"1.0.0", "1.0.0.1", -1},
		{"1.0.0-rc1", "1.0.0", -1},
		{"1.0.0-2", "1.0.0-10", -1},
		{"1.0.0-2", "1.0.0-alpha", -1},
		{"1.0.0-alpha", "1.0.0-beta", -1},
		{"1.0.0-a", "1.0.0-a.1", -1},
		// Semantic versioning orders these two the other way round. Stock tools do not, and
		// neither does this package.
		{"1.0.0-a.b", "1.0.0-a", -1},
		{"", "0.0.0-a", -1},
		{"", "", 0},
	} {
		a, b := parseOrZero(test.a), parseOrZero(test.b)
		if got := a.Compare(b); got != test.want {
			t.Errorf("%q.Compare(%q) = %d, want %d", test.a, test.b, got, test.want)
		}
		if got := b.Compare(a); got != -test.want {
			t.Errorf("%q.Compare(%q) = %d, want %d", test.b, test.a, got, -test.want)
		}
	}
}

func parseOrZero(s string) versions.Version {
	if s == "" {
		return versions.Version{}
	}
	return versions.MustParse(s)
}

// TestCompareLikeStock compares the order with that of go-version, which stock tools use.
func TestCompareLikeStock(t *testing.T) {
	t.Parallel()
	version := rapid.StringMatching(`(0|1|2|10|9223372036854775807)(\.(0|1|9|10)){0,3}(-rc\.?[12]|-1|\+a)?`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := version.Draw(t, "a"), version.Draw(t, "b")
		want := goversion.Must(goversion.NewVersion(a)).Compare(goversion.Must(goversion.NewVersion(b)))
		if got := versions.MustParse(a).Compare(versions.MustParse(b)); got != want {
			t.Errorf("%q and %q: Compare = %d, want %d", a, b, got, want)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"1.2.3", "v01", "1.2-rc.1+b", "1-", "1.0.0--~", "1~a", "1.2.3.4.5", "9999999999999999999", "1+\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := versions.Parse(s)
		if err != nil {
			return
		}
		if again, err := versions.Parse(v.String()); err != nil || again != v {
			t.Errorf("Parse(%q) = %q, %v, want %q: the form of %q is not canonical", v, again, err, v, s)
		}
		if strings.Trim(v.String(), "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-~+") != "" {
			t.Errorf("Parse(%q) = %q, which has a foreign character", s, v)
		}
		if v.Compare(v) != 0 || !(versions.Constraints{}).Allows(v) && !v.IsPrerelease() {
			t.Errorf("%q is not equal to itself or not allowed by nothing", v)
		}
	})
}

func TestText(t *testing.T) {
	t.Parallel()
	type document struct {
		Version   versions.Version
		None      versions.Version
		Want      versions.Constraints
		Any       versions.Constraints
		Provider  versions.ProviderConstraints
		Published map[versions.Version]string
	}
	want, err := versions.ParseConstraints(">=1.0 ,<2, != v1.3.0")
	testenv.Must(t, err)
	provider, err := versions.ParseProviderConstraints("~> 1, != 1.2")
	testenv.Must(t, err)
	v := versions.MustParse("v1.02-rc.1+b")
	text, err := json.Marshal(document{Version: v, Want: want, Provider: provider, Published: map[versions.Version]string{v: "x"}})
	const wanted = `{"Version":"1.2.0-rc.1+b","None":"","Want":"\u003e= 1.0, \u003c 2, != v1.3.0","Any":"","Provider":"~\u003e 1.0, != 1.2.0","Published":{"1.2.0-rc.1+b":"x"}}`
	testenv.Must(t, err)
	if diff := cmp.Diff(wanted, string(text)); diff != "" {
		t.Error(diff)
	}
	var got document
	testenv.Must(t, json.Unmarshal(text, &got))
	if got.Version != v || !got.None.IsZero() || got.Want.String() != want.String() || !got.Any.IsZero() || got.Provider.String() != provider.String() || got.Published[v] != "x" {
		t.Errorf("%s is read as %+v", text, got)
	}
	if err := json.Unmarshal([]byte(`{"Version":"one"}`), &got); err == nil || got.Version != v {
		t.Errorf("an invalid version is read as %q, %v", got.Version, err)
	}
}

// Combined constraints can be longer than those of one module.
func TestCombinedProviderConstraintsText(t *testing.T) {
	t.Parallel()
	var parts []versions.ProviderConstraints
	for i := range 1000 {
		c, err := versions.ParseProviderConstraints(fmt.Sprintf("!= 1.0.%d", i))
		testenv.Must(t, err)
		parts = append(parts, c)
	}
	all := versions.ProviderConstraints{}.And(parts...)
	text, err := all.MarshalText()
	testenv.Must(t, err)
	var got versions.ProviderConstraints
	if err := got.UnmarshalText(text); err != nil || got.String() != all.String() {
		t.Errorf("%d bytes are not read again: %v", len(text), err)
	}
	if err := got.UnmarshalText([]byte(strings.Repeat("!= 1.0.0, ", 10_000) + "1.0.0")); err == nil {
		t.Error("100,000 bytes are accepted")
	}
}

// TestTextKeepsMeaning checks that constraints allow the same versions after they were written and
// read.
func TestTextKeepsMeaning(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		version := rapid.StringMatching(`0?[0-2](\.[0-2]){0,2}(-(rc|beta)\.?[12])?(\+[ab])?`)
		part := rapid.Custom(func(t *rapid.T) string {
			return rapid.SampledFrom([]string{"", "=", "= ", "!=", "> ", ">=", "<", "<= ", "~>", "~> "}).Draw(t, "operator") + version.Draw(t, "version")
		})
		written := strings.Join(rapid.SliceOfN(part, 1, 3).Draw(t, "parts"), rapid.SampledFrom([]string{",", ", "}).Draw(t, "comma"))
		v := versions.MustParse(version.Draw(t, "candidate"))

		var again versions.Version
		if text, err := v.MarshalText(); err != nil || again.UnmarshalText(text) != nil || again != v {
			t.Fatalf("%q is read as %q", v, again)
		}
		want, err := versions.ParseConstraints(written)
		testenv.Must(t, err)
		var read versions.Constraints
		if text, err := want.MarshalText(); err != nil || read.UnmarshalText(text) != nil || read.String() != want.String() || read.Allows(v) != want.Allows(v) {
			t.Fatalf("%q is read as %q", want, read)
		}
		provider, err := versions.ParseProviderConstraints(written)
		if err != nil {
			return
		}
		var readProvider versions.ProviderConstraints
		if text, err := provider.MarshalText(); err != nil || readProvider.UnmarshalText(text) != nil || readProvider.String() != provider.String() || readProvider.Allows(v) != provider.Allows(v) {
			t.Fatalf("%q is read as %q", provider, readProvider)
		}
	})
}
