package versions_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/versions"
)

// selection is one line of testdata/constraints, whose README describes the format.
type selection struct {
	where      string // file and line
	constraint string
	none       bool // there is no constraint
	offered    []versions.Candidate
	want       string
	superset   bool
}

func TestSelectTables(t *testing.T) {
	t.Parallel()
	for _, test := range readTables(t) {
		t.Run(test.where, func(t *testing.T) {
			t.Parallel()
			for _, offered := range orders(test.offered) {
				if got := outcome(test, offered); got != test.want {
					t.Errorf("Select(%v, %q) = %s, want %s", offered, test.constraint, got, test.want)
				}
			}
		})
	}
}

func outcome(test selection, offered []versions.Candidate) string {
	var want versions.Constraints
	if !test.none {
		var err error
		if want, err = versions.ParseConstraints(test.constraint); err != nil {
			return kindOf(err)
		}
	}
	selected, err := versions.Select(offered, want)
	if err != nil {
		return kindOf(err)
	}
	return selected.Version.String()
}

func kindOf(err error) string {
	var invalid *versions.ParseError
	var noMatch *versions.NoMatchError
	var ambiguous *versions.AmbiguousVersionError
	switch {
	case errors.As(err, &invalid):
		return "invalid"
	case errors.As(err, &noMatch):
		return "no match"
	case errors.As(err, &ambiguous):
		return "ambiguous"
	}
	return err.Error()
}

// orders returns all rotations of the list, forwards and reversed.
func orders(offered []versions.Candidate) [][]versions.Candidate {
	var all [][]versions.Candidate
	for i := range offered {
		rotated := slices.Concat(offered[i:], offered[:i])
		reversed := slices.Clone(rotated)
		slices.Reverse(reversed)
		all = append(all, rotated, reversed)
	}
	return all
}

func readTables(t testing.TB) []selection {
	t.Helper()
	files, err := filepath.Glob("../testdata/constraints/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no tables: %v, %v", files, err)
	}
	var tests []selection
	for _, file := range files {
		text, err := os.ReadFile(file)
		testenv.Must(t, err)
		number := 0
		for line := range strings.Lines(string(text)) {
			number++
			line = strings.TrimSuffix(line, "\n")
			if line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			test := parseSelection(t, line)
			test.where = filepath.Base(file) + ":" + strconv.Itoa(number)
			tests = append(tests, test)
		}
	}
	return tests
}

func parseSelection(t testing.TB, line string) selection {
	t.Helper()
	fields := strings.Split(line, " | ")
	if len(fields) == 4 && fields[3] == "superset" {
		test := parseSelection(t, strings.Join(fields[:3], " | "))
		test.superset = true
		return test
	}
	if len(fields) != 3 {
		t.Fatalf("%q has %d fields, want 3", line, len(fields))
	}
	test := selection{constraint: fields[0], none: fields[0] == "(none)", want: fields[2]}
	if strings.HasPrefix(fields[0], `"`) {
		var err error
		if test.constraint, err = strconv.Unquote(fields[0]); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
	}
	for _, ref := range strings.Fields(fields[1]) {
		ref, revision, _ := strings.Cut(ref, "@")
		test.offered = append(test.offered, versions.Candidate{Version: versions.MustParse(ref), Ref: ref, Revision: revision})
	}
	return test
}
