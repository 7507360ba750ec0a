package depsfile

import (
	"testing"

	"github.com/hashicorp/go-version"
	"github.com/opentofu/opentofu/internal/getproviders"

	"github.com/cotterpin/cotter/versions"
)

// TestCotterConstraints compares Cotter's constraints for providers with OpenTofu's: what parses,
// what it allows, and how it is written to a lock. In a configuration, both of OpenTofu's parsers
// must accept the text.
func TestCotterConstraints(t *testing.T) {
	operators := []string{"", "=", "= ", "!=", "!= ", ">", "> ", ">=", ">= ", "<", "< ", "<=", "<= ", "~>", "~> "}
	operands := []string{"0", "1", "1.0", "1.2", "1.0.0", "1.2.3", "v1.2.3", "01.2", "1.2.3.4", "2.0.0", "1.2.3-alpha", "1.2.3-beta.2", "1.2.3+build", "1.2.3-beta.2+build", "1.2.0beta1", "1.2.3-", "x"}
	candidates := []string{"0.0.0", "0.1.0", "1.0.0", "1.0.1", "1.2.0", "1.2.2", "1.2.3", "1.2.4", "1.3.0", "2.0.0", "2.0.1", "10.0.0", "1.2.3-alpha", "1.2.3-beta.1", "1.2.3-beta.2", "1.2.0-beta1", "2.0.0-rc.1", "1.2.3+build", "1.2.3-beta.2+build"}
	var compared int
	check := func(text string) {
		_, moduleErr := version.NewConstraint(text)
		stock, stockErr := getproviders.ParseVersionConstraints(text)
		ours, err := versions.ParseProviderConstraints(text)
		compared++
		if (stockErr == nil && moduleErr == nil) != (err == nil) {
			t.Errorf("%q: OpenTofu says %v, %v; Cotter says %v", text, moduleErr, stockErr, err)
			return
		}
		if err != nil {
			return
		}
		compared++
		if got, want := ours.String(), getproviders.VersionConstraintsString(stock); got != want {
			t.Errorf("%q: OpenTofu writes %q, Cotter %q", text, want, got)
		}
		set := getproviders.MeetingConstraints(stock)
		for _, candidate := range candidates {
			compared++
			got, want := ours.Allows(versions.MustParse(candidate)), set.Has(getproviders.MustParseVersion(candidate))
			if got != want {
				t.Errorf("%q and %s: OpenTofu says %t, Cotter %t", text, candidate, want, got)
			}
		}
	}
	for _, operator := range operators {
		for _, operand := range operands {
			check(operator + operand)
			for _, first := range []string{">= 1.0", "~> 1.2", "!= 1.2.3", "1.2.3-beta.2"} {
				check(first + ", " + operator + operand)
			}
		}
	}
	for _, text := range []string{",", ">= 1.0,", ", >= 1.0", ">= 1.0 < 2.0", ">=  1.0", "^1.0", "1.x", "*", "latest"} {
		check(text)
	}
	t.Logf("%d comparisons", compared)
}
