package initwd

import (
	"regexp"
	"testing"

	"github.com/apparentlymart/go-versions/versions"
	version "github.com/hashicorp/go-version"

	cotter "github.com/cotterpin/cotter/versions"
)

// testOperators, testOperands and testVersions are combined with each other.
var (
	testOperators = []string{"", "=", "= ", "!=", "!= ", ">", "> ", ">=", ">= ", "<", "< ", "<=", "<= ", "~>", "~> "}
	testOperands  = []string{"0", "1", "1.0", "1.2", "1.0.0", "1.2.3", "v1.2.3", "01.2", "1.2.3.4", "2.0.0", "1.2.3-alpha", "1.2.3-beta.2", "1.2.3+build", "1.2.3-beta.2+build", "1.2.0beta1", "1.2.3-", "x"}
	testVersions  = []string{"0.0.0", "0.1.0", "1.0.0", "1.0.1", "1.2.0", "1.2.2", "1.2.3", "1.2.4", "1.3.0", "2.0.0", "2.0.1", "10.0.0", "1.2.3-alpha", "1.2.3-beta.1", "1.2.3-beta.2", "1.2.0-beta1", "2.0.0-rc.1", "1.2.3+build", "1.2.3-beta.2+build", "1.2.3.4", "v1.2.3"}
)

// eachConstraint calls check with each operand after each operator, and with pairs of those.
func eachConstraint(check func(constraint string)) {
	for _, operator := range testOperators {
		for _, operand := range testOperands {
			check(operator + operand)
		}
	}
	for _, first := range []string{">= 1.0", "~> 1.2", "!= 1.2.3", "1.2.3-beta.2"} {
		for _, operator := range testOperators {
			for _, operand := range testOperands {
				check(first + ", " + operator + operand)
			}
		}
	}
	for _, text := range []string{"", " ", ",", ">= 1.0,", ", >= 1.0", ">= 1.0 < 2.0", ">=  1.0", "^1.0", "1.x", "*", "latest"} {
		check(text)
	}
}

// TestCotterConstraints compares Cotter's constraints with OpenTofu's rule for modules: a version
// meets them if go-version says so and, if it is a pre-release, go-versions too.
func TestCotterConstraints(t *testing.T) {
	var compared, exact int
	eachConstraint(func(text string) {
		stock, stockErr := version.NewConstraint(text)
		ours, err := cotter.ParseConstraints(text)
		compared++
		if (stockErr == nil) != (err == nil) {
			t.Errorf("%q: OpenTofu says %v, Cotter %v", text, stockErr, err)
			return
		}
		if err != nil {
			return
		}
		for _, candidate := range testVersions {
			compared++
			v := cotter.MustParse(candidate)
			want, got := stockAllows(stock, version.Must(version.NewVersion(candidate))), ours.Allows(v)
			if named, ok := ours.Exact(); got && !want && ok && named == v {
				exact++ // the rule that differs: see package versions
				continue
			}
			if got != want {
				t.Errorf("%q and %s: OpenTofu says %t, Cotter %t", text, candidate, want, got)
			}
		}
	})
	if exact == 0 {
		t.Error("no comparison differs: the documentation of the rule is out of date")
	}
	t.Logf("%d comparisons; in %d of them only Cotter allows a pre-release that is named exactly", compared, exact)
}

var leadingV = regexp.MustCompile(`\bv(\d)`)

func stockAllows(want version.Constraints, v *version.Version) bool {
	if v.Prerelease() != "" {
		set, err := versions.MeetingConstraintsString(want.String())
		if err != nil {
			set, err = versions.MeetingConstraintsString(leadingV.ReplaceAllString(want.String(), "$1"))
		}
		parsed, versionErr := versions.ParseVersion(v.String())
		if err != nil || versionErr != nil || !set.Has(parsed) {
			return false
		}
	}
	return want.Check(v)
}
