package cotter_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cotterpin/cotter"
)

// An edit changes only the tag in a file, regardless of its syntax. Pins that are not plain
// literals are not changed.
func TestEditPins(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, file, text string
		want             string // "" if the edit is refused
	}{
		{
			"native", "main.tf", "# ä\r\nmodule \"net\" { source = \"git::https://MODTEST_HOST/git/net.git?ref=refs/tags/v1.0.0\" }\r\n",
			"# ä\r\nmodule \"net\" { source = \"git::https://MODTEST_HOST/git/net.git?ref=refs/tags/v1.1.0\" }\r\n",
		},
		{
			"JSON", "main.tf.json", `{"module": {"net": {"source": "git::https://MODTEST_HOST/git/net.git?ref=v1.0.0"}}}`,
			`{"module": {"net": {"source": "git::https://MODTEST_HOST/git/net.git?ref=v1.1.0"}}}`,
		},
		{"escapes", "main.tf", `module "net" { source = "git::https://MODTEST_HOST/git/net.git?\u0072ef=v1.0.0" }`, ""},
		{"function", "main.tf", `module "net" { source = lower("git::https://MODTEST_HOST/git/net.git?ref=v1.0.0") }`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := world(t, "-- config/"+tt.file+" --\n"+tt.text+"\n-- git/net.git/v1.0.0/main.tf --\n-- git/net.git/v1.1.0/main.tf --\n# newer\n-- git/net.git/1.2.0/main.tf --\n# spelled otherwise\n")
			req := cotter.Request{Dir: p.dir, Dialect: cotter.DialectOpenTofu}
			before := p.file(tt.file)
			pins, err := p.installer().Pins(t.Context(), req)
			if err != nil || len(pins) != 1 || pins[0].LatestVersion != "1.1.0" {
				t.Fatalf("Pins = %+v, %v; want one of 1.1.0", pins, err)
			}
			err = cotter.EditPins(req, pins)
			want := strings.ReplaceAll(tt.want, "MODTEST_HOST", string(p.world.Host())) + "\n"
			var refused *cotter.EditError
			if tt.want == "" {
				want = before
				if !errors.As(err, &refused) {
					t.Errorf("EditPins = %v, want an EditError", err)
				}
			} else if err != nil {
				t.Error(err)
			}
			if got := p.file(tt.file); got != want {
				t.Errorf("the file is\n%s\nwant\n%s", got, want)
			}
		})
	}
}
