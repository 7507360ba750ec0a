package lockfile_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/lockfile"
)

// Stock tools must accept the files that we write. If no provider changes, they must leave them
// unchanged.
func TestStockToolsAcceptTheFile(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"terraform", "tofu"} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			binary, err := exec.LookPath(tool)
			if err != nil {
				t.Skipf("%s is not installed", tool)
			}
			root, name := project(t, "")
			var file lockfile.File
			for _, m := range append(parseFixture(t, "good-seed.hcl").Modules(), parseFixture(t, "good-layouts.hcl").Modules()...) {
				m.Package = testenv.Package(`https://example.com/${a}%{b}"\` + "\u00a0é")
				file.SetModule(m)
			}
			write(t, &file, root, true)
			before := content(t, name)

			cmd := exec.Command(binary, "init", "-backend=false", "-input=false", "-no-color")
			cmd.Dir = filepath.Dir(name)
			cmd.Env = append(os.Environ(), "CHECKPOINT_DISABLE=1", "TF_CLI_CONFIG_FILE="+os.DevNull)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s init: %v\n%s\n%s", tool, err, out, before)
			}
			if after := content(t, name); after != before {
				t.Errorf("%s init changed the file to:\n%s", tool, after)
			}
		})
	}
}
