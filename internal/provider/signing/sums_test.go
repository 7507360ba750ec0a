package signing_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/provider/signing"
)

var a, b = strings.Repeat("a", 64), strings.Repeat("b", 64)

func TestSums(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		document string
		want     error    // of checking that x.zip has the sum a
		all      []string // the sums that a lock records
	}{
		"plain":              {a + "  x.zip\n" + b + "  y.zip\n", nil, []string{a, b}},
		"sorted":             {b + "  y.zip\n" + a + "  x.zip\n", nil, []string{a, b}},
		"no end of line":     {a + "  x.zip", nil, []string{a}},
		"CRLF":               {a + "  x.zip\r\n" + b + "  y.zip\r\n", nil, []string{a, b}},
		"upper-case digits":  {strings.ToUpper(a) + "  x.zip\n", nil, []string{a}},
		"blank lines":        {"\n" + a + "  x.zip\n\n \r\n" + b + "  y.zip\n\n", nil, []string{a, b}},
		"binary marker":      {a + " *x.zip\n" + b + " *y.zip\n", nil, []string{a, b}},
		"one space":          {a + " x.zip\n", nil, []string{a}},
		"a tab":              {a + "\tx.zip\n" + b + "\t \t*y.zip\n", nil, []string{a, b}},
		"indented":           {"  " + a + "  x.zip\n", nil, []string{a}},
		"same line twice":    {a + "  x.zip\n" + a + "  x.zip\n", nil, []string{a}},
		"comment":            {"# sums\n" + a + "  x.zip\n", nil, nil},
		"garbage behind":     {a + "  x.zip\n" + b + "\n", nil, nil},
		"name with a space":  {a + "  x.zip\n" + b + "  y z.zip\n", nil, nil},
		"short sum":          {a + "  x.zip\n" + b[1:] + "  y.zip\n", nil, nil},
		"sum that is no hex": {a + "  x.zip\n" + "g" + b[1:] + "  y.zip\n", nil, nil},
		"path":               {a + "  ./x.zip\n", signing.ErrNoSum, []string{a}},
		"other letter case":  {a + "  X.zip\n", signing.ErrNoSum, []string{a}},
		"file missing":       {b + "  y.zip\n", signing.ErrNoSum, []string{b}},
		"empty":              {"", signing.ErrNoSum, nil},
		"other sum":          {b + "  x.zip\n", signing.ErrOtherSum, []string{b}},
		"wrong, then right":  {b + "  x.zip\n" + a + "  x.zip\n", signing.ErrOtherSum, []string{a, b}},
		"right, then wrong":  {a + "  x.zip\n" + b + "  x.zip\n", signing.ErrOtherSum, []string{a, b}},
	}
	for name, test := range tests {
		sums := signing.ParseSums([]byte(test.document))
		if err := sums.Check("x.zip", a); !errors.Is(err, test.want) {
			t.Errorf("%s: Check = %v, want %v", name, err, test.want)
		}
		if diff := cmp.Diff(test.all, sums.All()); diff != "" {
			t.Errorf("%s: All (-want +got):\n%s", name, diff)
		}
	}
}

func FuzzParseSums(f *testing.F) {
	for _, seed := range []string{a + "  x.zip\n" + b + " *y.zip\r\n\n", "x", a + " ", a + "  *", "\x00 \n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		all := signing.ParseSums(document).All()
		if !slices.IsSorted(all) {
			t.Errorf("All = %q", all)
		}
		for _, sum := range all {
			if len(sum) != 64 || strings.Trim(sum, "0123456789abcdef") != "" {
				t.Errorf("the sum %q", sum)
			}
		}
	})
}
