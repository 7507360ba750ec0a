package versions_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/versions"
)

func candidates(refs ...string) []versions.Candidate {
	var all []versions.Candidate
	for _, ref := range refs {
		ref, revision, _ := strings.Cut(ref, "@")
		all = append(all, versions.Candidate{Version: versions.MustParse(ref), Ref: ref, Revision: revision})
	}
	return all
}

func constraints(t *testing.T, s string) versions.Constraints {
	t.Helper()
	if s == "" {
		return versions.Constraints{}
	}
	c, err := versions.ParseConstraints(s)
	testenv.Must(t, err)
	return c
}

func TestSelectKeepsRefAndRevision(t *testing.T) {
	t.Parallel()
	got, err := versions.Select(candidates("v1.0.0@aaa", "1.2.0", "v1.2.0@bbb", "1.2@bbb"), versions.Constraints{})
	want := versions.Candidate{Version: versions.MustParse("1.2.0"), Ref: "1.2", Revision: "bbb"}
	if err != nil || got != want {
		t.Errorf("Select = %v, %v, want %v", got, err, want)
	}
}

func TestSelectPassesOverNoVersion(t *testing.T) {
	t.Parallel()
	offered := append([]versions.Candidate{{Ref: "junk"}}, candidates("1.0.0")...)
	if got, err := versions.Select(offered, versions.Constraints{}); err != nil || got != offered[1] {
		t.Errorf("Select = %v, %v, want %v", got, err, offered[1])
	}
}

func TestAmbiguousVersionError(t *testing.T) {
	t.Parallel()
	_, err := versions.Select(candidates("v1.2.0@aaa", "1.0.0@ccc", "1.2.0@bbb", "v1.2.0@aaa"), versions.Constraints{})
	var ambiguous *versions.AmbiguousVersionError
	if !errors.As(err, &ambiguous) {
		t.Fatalf("Select: error %v, want an *AmbiguousVersionError", err)
	}
	if diff := cmp.Diff(candidates("1.2.0@bbb", "v1.2.0@aaa"), ambiguous.Candidates, cmp.Comparer(sameVersion)); diff != "" {
		t.Errorf("candidates (-want +got):\n%s", diff)
	}
	const want = `version 1.2.0 is offered at different revisions: "1.2.0" at "bbb", "v1.2.0" at "aaa";`
	if !strings.HasPrefix(err.Error(), want) {
		t.Errorf("message %q, want it to begin with %q", err, want)
	}
}

func sameVersion(a, b versions.Version) bool { return a == b }

func TestNoMatchErrorMessage(t *testing.T) {
	t.Parallel()
	var many []string
	for i := range 13 {
		many = append(many, fmt.Sprintf("1.%d.0", i), fmt.Sprintf("v1.%d", i))
	}
	for _, test := range []struct {
		constraint string
		offered    []string
		want       string
	}{
		{"", nil, "offers no versions"},
		{">= 1.0", nil, "offers no versions"},
		{">=9", many, `no version meets the constraint ">= 9"; offered: 1.12.0, 1.11.0, 1.10.0, 1.9.0, 1.8.0, 1.7.0, 1.6.0, 1.5.0, 1.4.0, 1.3.0 and 3 more`},
		{"", []string{"1.0.0-rc1", "1.0.0-rc2"}, `offers only pre-releases; offered: 1.0.0-rc2, 1.0.0-rc1; the pre-release 1.0.0-rc2 would match if it were pinned exactly: "1.0.0-rc2"`},
		{"~> 1.2.0-rc1", []string{"1.2.0-rc1", "1.2.0"}, `no version meets the constraint "~> 1.2.0-rc1"; offered: 1.2.0, 1.2.0-rc1; the pre-release 1.2.0-rc1 would match if it were pinned exactly: "1.2.0-rc1"`},
		{"1.2.0-rc1", []string{"1.2.0-rc1+x"}, `no version meets the constraint "1.2.0-rc1"; offered: 1.2.0-rc1+x; the pre-release 1.2.0-rc1+x would match if it were pinned exactly: "1.2.0-rc1+x"`},
		{">= 1.1, < 2", []string{"2.0.0-rc1", "1.1.0-rc1", "1.0.0"}, `no version meets the constraint ">= 1.1, < 2"; offered: 2.0.0-rc1, 1.1.0-rc1, 1.0.0; the pre-release 1.1.0-rc1 would match if it were pinned exactly: "1.1.0-rc1"`},
		{">= 1.0, 1.2.0-rc1", []string{"1.2.0-rc1"}, `no version meets the constraint ">= 1.0, 1.2.0-rc1"; offered: 1.2.0-rc1; the pre-release 1.2.0-rc1 would match if it were pinned exactly: "1.2.0-rc1"`},
		{">= 2.0", []string{"1.0.0-rc1"}, `no version meets the constraint ">= 2.0"; offered: 1.0.0-rc1`},
	} {
		offered := candidates(test.offered...)
		_, err := versions.Select(offered, constraints(t, test.constraint))
		var noMatch *versions.NoMatchError
		if !errors.As(err, &noMatch) {
			t.Errorf("Select(%v, %q): error %v, want a *NoMatchError", test.offered, test.constraint, err)
			continue
		}
		if err.Error() != test.want || len(noMatch.Offered) != len(offered) {
			t.Errorf("Select(%v, %q): %d offers, message\n%s\nwant\n%s", test.offered, test.constraint, len(noMatch.Offered), err, test.want)
		}
	}
}

// TestSelectIgnoresOrder also checks the list in the error. It includes pre-releases for which
// go-version does not define a strict order.
func TestSelectIgnoresOrder(t *testing.T) {
	t.Parallel()
	ref := rapid.StringMatching(`v?[01](\.[01]){0,3}(-(01|1|a|b)(\.(01|1|a|b))?)?(\+(01|1|a|b)(\.[01])?)?(@[ab])?`)
	rapid.Check(t, func(t *rapid.T) {
		offered := candidates(rapid.SliceOfN(ref, 1, 10).Draw(t, "offered")...)
		shuffled := rapid.Permutation(offered).Draw(t, "shuffled")
		for _, text := range []string{"", "~> 1.0", ">= 2", "1.0.0+a"} {
			var want versions.Constraints
			if text != "" {
				want, _ = versions.ParseConstraints(text)
			}
			a, errA := versions.Select(offered, want)
			b, errB := versions.Select(shuffled, want)
			if a != b || fmt.Sprint(errA) != fmt.Sprint(errB) {
				t.Fatalf("Select by %q: %v, %v in one order and %v, %v in another", text, a, errA, b, errB)
			}
		}
	})
}
