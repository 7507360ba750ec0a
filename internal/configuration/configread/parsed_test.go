package configread_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/configuration/configread"
	"github.com/cotterpin/cotter/internal/testenv"
)

// The files of a directory are parsed once, however often the tree calls the module in it. Each call
// passes its own values.
func TestDirectoryIsParsedOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	testenv.WriteFile(t, filepath.Join(dir, "main.tf"), "module \"a\" {\n  source = \"./m\"\n  name = \"a\"\n}\nmodule \"b\" {\n  source = \"./m\"\n  name = \"b\"\n}\n")
	file := filepath.Join(dir, "m", "main.tf")
	testenv.WriteFile(t, file, "variable \"name\" {\n}\nmodule \"n\" {\n  source = \"./${var.name}\"\n}\nresource \"null_resource\" \"r\" {\n}\nresource \"other\" \"r\" {\n}\nmodule \"n\" {\n  source = \"./twice\"\n}\n")
	reader := configread.Reader{Providers: true}
	tree := configread.NewTree(config.Inputs{})
	root, diags := reader.Read(t.Context(), configread.Dir{Path: dir, Tree: tree})
	if diags.HasErrors() || len(root.Calls) != 2 {
		t.Fatalf("the root module has %d calls, %v", len(root.Calls), diags)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, _ = reader.Read(ended, configread.Dir{Module: addrs.Module{"a"}, Path: filepath.Join(dir, "m"), Tree: tree}) // what it has read is not kept
	for i, want := range []string{"./a", "./b"} {
		m, diags := reader.Read(t.Context(), configread.Dir{Module: addrs.Module{root.Calls[i].Name}, Path: filepath.Join(dir, "m"), Tree: tree})
		if len(m.Calls) != 1 || m.Calls[0].Source != want || len(m.Providers) != 2 || len(diags) != 1 || diags[0].Detail == "changed" {
			t.Errorf("the call of %s: %+v, %v", want, m, diags)
		}
		for _, diag := range diags {
			diag.Detail = "changed"
		}
		testenv.Must(t, os.RemoveAll(filepath.Dir(file)))
	}
}
