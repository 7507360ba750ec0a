package versions_test

import (
	"regexp"
	"strings"
	"testing"

	goversions "github.com/apparentlymart/go-versions/versions"
	goversion "github.com/hashicorp/go-version"
	"pgregory.net/rapid"

	"github.com/cotterpin/cotter/versions"
)

// stockSelect selects like OpenTofu, using the same two libraries: one matches versions, and the
// other decides which pre-releases are considered. It returns all versions with the highest
// precedence. OpenTofu takes the first of them.
func stockSelect(constraint string, offered []string) []string {
	want, err := goversion.NewConstraint(constraint)
	if err != nil {
		return nil
	}
	var best []*goversion.Version
	for _, text := range offered {
		v := goversion.Must(goversion.NewVersion(text))
		if v.Prerelease() != "" && !stockTakesPart(constraint, v) || !want.Check(v) {
			continue
		}
		switch {
		case len(best) == 0 || v.GreaterThan(best[0]):
			best = []*goversion.Version{v}
		case v.Equal(best[0]):
			best = append(best, v)
		}
	}
	var names []string
	for _, v := range best {
		names = append(names, v.String())
	}
	return names
}

var leadingV = regexp.MustCompile(`^(\s*=?)v`)

func stockTakesPart(constraint string, v *goversion.Version) bool {
	accepted, err := goversions.MeetingConstraintsString(leadingV.ReplaceAllString(constraint, "$1"))
	if err != nil {
		return false
	}
	version, err := goversions.ParseVersion(v.String())
	return err == nil && accepted.Has(version)
}

func TestTablesAgreeWithStock(t *testing.T) {
	t.Parallel()
	for _, test := range readTables(t) {
		if test.none || test.superset || test.want == "invalid" || test.want == "ambiguous" {
			continue
		}
		stock := stockSelect(test.constraint, refs(test.offered))
		if test.want == "no match" && stock == nil {
			continue
		}
		if !strings.Contains(" "+strings.Join(stock, " ")+" ", " "+test.want+" ") {
			t.Errorf("%s: %q selects %s, stock tools select one of %q", test.where, test.constraint, test.want, stock)
		}
	}
}

func refs(offered []versions.Candidate) []string {
	var refs []string
	for _, c := range offered {
		refs = append(refs, c.Ref)
	}
	return refs
}

// TestSelectLikeStock compares Select with stockSelect for random versions and constraints.
func TestSelectLikeStock(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		version := rapid.StringMatching(`[0-2]\.[0-2](\.[0-2])?(-(rc|beta)\.?[12])?(\+[ab])?`)
		part := rapid.Custom(func(t *rapid.T) string {
			operator := rapid.SampledFrom([]string{"", "=", "!=", "!= ", "> ", ">=", ">= ", "<", "<= ", "~>", "~> "}).Draw(t, "operator")
			return operator + version.Draw(t, "version")
		})
		constraint := strings.Join(rapid.SliceOfN(part, 1, 3).Draw(t, "parts"), ", ")
		var offered []versions.Candidate
		for _, ref := range rapid.SliceOfN(version, 0, 8).Draw(t, "offered") {
			offered = append(offered, versions.Candidate{Version: versions.MustParse(ref), Ref: ref})
		}
		want, err := versions.ParseConstraints(constraint)
		if err != nil {
			t.Fatalf("ParseConstraints(%q): %v", constraint, err)
		}
		stock := stockSelect(constraint, refs(offered))
		got, err := versions.Select(offered, want)
		if (err != nil) != (stock == nil) {
			t.Fatalf("Select(%v, %q) = %v, %v; stock tools select one of %q", offered, constraint, got, err, stock)
		}
		if err == nil && !strings.Contains(" "+strings.Join(stock, " ")+" ", " "+got.Version.String()+" ") {
			t.Fatalf("Select(%v, %q) = %v, want one of %q", offered, constraint, got, stock)
		}
	})
}
