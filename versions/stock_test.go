package versions_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	goversions "github.com/apparentlymart/go-versions/versions"
	goconstraints "github.com/apparentlymart/go-versions/versions/constraints"
	goversion "github.com/hashicorp/go-version"
	"pgregory.net/rapid"

	"github.com/cotterpin/cotter/internal/testenv"
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

// randomConstraints returns constraints of a few similar versions, so that many of them differ
// only in the operator, the pre-release or the build metadata.
func randomConstraints(random *rand.Rand) string {
	pick := func(all ...string) string { return all[random.IntN(len(all))] }
	parts := make([]string, 1+random.IntN(6))
	for i := range parts {
		operator := pick("", "= ", "!= ", "> ", ">= ", "< ", "<= ", "~> ", "~>", ">=")
		numbers := pick("1", "1.2", "1.2.0", "1.2.3", "1.2.3", "1.2.3", "01.2.3", "1.2.10", "0", "10.0.0")
		prerelease := pick("", "", "", "-rc", "-rc.1", "-rc.10", "-rc.9", "-1", "-01", "-a.b", "-b", "-rc-1", "-RC")
		metadata := pick("", "", "+m1", "+m9", "+m10", "+1", "+01", "+9", "+10", "+m.1", "+m.1.2", "+M1", "+a-b")
		parts[i] = operator + numbers + prerelease + metadata
	}
	return strings.Join(parts, pick(",", ", ", " , "))
}

// Stock tools refuse a lock whose constraints are not exactly in the form that they write
// themselves, so they check every text here.
func TestProviderConstraintsLikeStock(t *testing.T) {
	t.Parallel()
	const seed, sets = 1, 3000
	random := rand.New(rand.NewPCG(seed, seed)) //nolint:gosec // a reproducible test
	var lock strings.Builder
	inputs := map[string]string{}
	for i := range sets {
		input := randomConstraints(random)
		c, err := versions.ParseProviderConstraints(input)
		if err != nil {
			continue // TestSelectProviderLikeStock compares the errors
		}
		address := fmt.Sprintf("example.com/a/p%d", i)
		inputs[address] = input
		fmt.Fprintf(&lock, "provider %q {\n  version = \"1.0.0\"\n  constraints = %q\n}\n", address, c)
	}
	if len(inputs) < sets/2 {
		t.Fatalf("only %d of %d random constraints are valid", len(inputs), sets)
	}
	for _, tool := range []string{"tofu", "terraform"} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			binary := testenv.Program(t, tool)
			dir := t.TempDir()
			testenv.WriteFiles(t, dir, map[string]string{"main.tf": "locals {}\n", ".terraform.lock.hcl": lock.String()})
			cmd := exec.Command(binary, "init", "-input=false", "-no-color")
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "CHECKPOINT_DISABLE=1", "TF_CLI_CONFIG_FILE="+os.DevNull)
			out, err := cmd.CombinedOutput()
			if err == nil {
				return
			}
			t.Errorf("%s: %v\n%s", tool, err, out)
			for address, input := range inputs {
				if strings.Contains(string(out), address+" ") {
					t.Logf("%s: %s", address, input)
				}
			}
		})
	}
}
