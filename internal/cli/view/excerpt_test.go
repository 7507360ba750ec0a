package view_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/internal/cli/view"
	"github.com/cotterpin/cotter/internal/testenv"
)

// TestExcerptWidth checks that an excerpt is cut to the columns, and that the carets stay below their words.
func TestExcerptWidth(t *testing.T) {
	t.Parallel()
	const word = `"acme/network/aws"`
	for _, test := range []struct {
		name, before, after string
		columns             int
		want                []string
	}{
		{"it fits", `  source = `, ` # x`, 80, []string{`1 |   source = "acme/network/aws" # x`, `  |            ^^^^^^^^^^^^^^^^^^`}},
		{"the end is cut", `  source = `, ` # ` + strings.Repeat("x", 40), 40, []string{`1 |   source = "acme/network/aws" # x...`, `  |            ^^^^^^^^^^^^^^^^^^`}},
		{"the word is cut", `  source = `, ``, 24, []string{`1 | ... = "acme/netwo...`, `  |       ^^^^^^^^^^^^^^`}},
		{"the beginning is cut", strings.Repeat("x", 100) + ` = `, ` # x`, 34, []string{`1 | ...xxx = "acme/network/aws"...`, `  |          ^^^^^^^^^^^^^^^^^^`}},
		{"wide characters", `  /* 模块模块模块 */ source = `, ``, 60, []string{`1 |   /* 模块模块模块 */ source = "acme/network/aws"`, `  |                               ^^^^^^^^^^^^^^^^^^`}},
	} {
		dir := t.TempDir()
		testenv.WriteFile(t, filepath.Join(dir, "main.tf"), test.before+word+test.after+"\n")
		from, to := len(test.before), len(test.before)+len(word)
		got := view.Excerpt(dir, hcl.Range{Filename: "main.tf", Start: hcl.Pos{Line: 1, Byte: from}, End: hcl.Pos{Line: 1, Byte: to}}, test.columns)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}
