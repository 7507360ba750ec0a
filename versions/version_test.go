package versions_test

import (
	"strings"
	"testing"

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
