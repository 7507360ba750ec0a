package versions_test

import (
	"regexp"
	"strings"
	"testing"

	goversions "github.com/apparentlymart/go-versions/versions"
	goconstraints "github.com/apparentlymart/go-versions/versions/constraints"
	goversion "github.com/hashicorp/go-version"

	"github.com/cotterpin/cotter/versions"
)

// grid returns constraints of all operators and of the versions that they are compared with.
func grid() (constraints, offered []string) {
	for _, numbers := range []string{"0.0.0", "1", "1.2", "1.2.0", "1.2.3.4", "v1.2.0", "01.2"} {
		for _, prerelease := range []string{"", "-beta1", "beta1", "-rc.1"} {
			for _, metadata := range []string{"", "+b"} {
				offered = append(offered, numbers+prerelease+metadata)
			}
		}
	}
	var parts []string
	for _, operator := range []string{"", "=", "= ", "!=", "!= ", ">", "> ", ">=", ">= ", "<", "< ", "<=", "<= ", "~>", "~> "} {
		for _, version := range offered {
			constraints = append(constraints, operator+version)
		}
		for _, version := range []string{"1", "1.2.0", "1.2.0-beta1"} {
			parts = append(parts, operator+version)
		}
	}
	for i, part := range parts {
		for _, other := range parts[i%7:] {
			if len(constraints)%7 == 0 || strings.HasPrefix(part, "=") {
				constraints = append(constraints, part+", "+other)
			}
		}
	}
	return constraints, offered
}

// pin matches the spellings of an exact pre-release that OpenTofu accepts, but then never selects,
// because its second parser does not know them: a space after "=", no dash before the pre-release,
// and more than three numbers.
var pin = regexp.MustCompile(`^(= .*|=?v?[0-9.]+[a-z].*|=?v?[0-9]+(\.[0-9]+){3,}-.*)$`)

// TestAllowsLikeStock compares single versions with the libraries of OpenTofu. There is one
// difference: an exact pre-release is allowed in every spelling.
func TestAllowsLikeStock(t *testing.T) {
	t.Parallel()
	constraints, offered := grid()
	compared, different := 0, 0
	for _, constraint := range constraints {
		want, err := versions.ParseConstraints(constraint)
		if _, stock := goversion.NewConstraint(constraint); err != nil || stock != nil {
			t.Fatalf("ParseConstraints(%q): %v; stock tools: %v", constraint, err, stock)
		}
		for _, text := range offered {
			v := versions.MustParse(text)
			got, stock := want.Allows(v), stockSelect(constraint, []string{text}) != nil
			compared++
			if got == stock {
				continue
			}
			different++
			exact, isExact := want.Exact()
			if stock || !isExact || exact != v || !v.IsPrerelease() || !pin.MatchString(constraint) {
				t.Errorf("%q allows %q: %v; in stock tools: %v", constraint, text, got, stock)
			}
		}
	}
	if compared < 36_000 || different == 0 {
		t.Errorf("%d comparisons, %d differences", compared, different)
	}
}

// TestProviderAllowsLikeStock is like TestAllowsLikeStock for providers. The only difference is
// 0.0.0 with metadata or a pre-release: the library allows it, but stock tools take the newest
// version above 0.0.0.
func TestProviderAllowsLikeStock(t *testing.T) {
	t.Parallel()
	constraints, offered := grid()
	compared := 0
	for _, constraint := range constraints {
		want, err := versions.ParseProviderConstraints(constraint)
		specs, stockErr := goconstraints.ParseRubyStyleMulti(constraint)
		if (err == nil) != (stockErr == nil) {
			t.Errorf("ParseProviderConstraints(%q): %v; stock tools: %v", constraint, err, stockErr)
		}
		if err != nil || stockErr != nil {
			continue
		}
		set := goversions.MeetingConstraints(specs)
		for _, text := range offered {
			parsed, err := goversions.ParseVersion(text)
			if err != nil {
				continue
			}
			compared++
			// A selection begins at 0.0.0, and takes what is greater.
			stock := set.Has(parsed) && parsed.GreaterThan(goversions.Unspecified)
			if got := want.Allows(versions.MustParse(text)); got != stock {
				t.Errorf("%q allows %q: %v; in stock tools: %v", constraint, text, got, stock)
			}
		}
	}
	if compared < 10_000 {
		t.Errorf("only %d comparisons", compared)
	}
}
