package main

import (
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cotterpin/cotter/internal/testenv"
)

// TestStockScripts runs each script in testdata/stock with both stock tools. TOOL is the name of one.
func TestStockScripts(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("testdata/stock/*.txtar")
	testenv.Must(t, err)
	for _, tool := range []string{"tofu", "terraform"} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			needCommands(t, tool)
			p := scripts(testenv.SampleFiles(names, "adopt", "arguments"))
			p.Setup = func(env *testscript.Env) error {
				env.Setenv("TOOL", tool)
				return setup(env, "testdata/stock")
			}
			testscript.Run(t, p)
		})
	}
}
