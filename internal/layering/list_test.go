package layering_test

import (
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/cotterpin/cotter/internal/testenv"
)

// listed is a package, as the go command lists it.
type listed struct {
	export string // the file with what other packages can see of it
	// files and deps, direct and indirect, are only those of the packages of this module.
	files, deps []string
}

// listPackages lists the packages of this module and all that they import, by their paths. It takes a second, so all tests
// share the list.
var listPackages = sync.OnceValues(func() (map[string]listed, error) {
	cmd := exec.Command("go", "list", "-export", "-deps", "-f", `{{.ImportPath}}|{{.Export}}|{{if not .DepOnly}}{{join .GoFiles " "}}|{{join .Deps " "}}{{else}}|{{end}}`, "./...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %q: %w", cmd.Args[1:], err)
	}
	packages := make(map[string]listed)
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "|")
		packages[fields[0]] = listed{fields[1], strings.Fields(fields[2]), strings.Fields(fields[3])}
	}
	return packages, nil
})

func packageList(t *testing.T) map[string]listed {
	t.Helper()
	testenv.Program(t, "go")
	packages, err := listPackages()
	testenv.Must(t, err)
	return packages
}

// compiled returns an importer of what the compiler has written.
func compiled(packages map[string]listed, set *token.FileSet) types.Importer {
	return importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(packages[path].export) })
}
