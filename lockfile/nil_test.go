package lockfile_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/lockfile"
)

// A nil file, such as Parse returns with an error, has nothing to read.
func TestNilFile(t *testing.T) {
	t.Parallel()
	var none *lockfile.File
	_, hasModule := none.Module("net")
	_, hasProvider := none.Provider(addrs.Provider{})
	found := len(none.Modules()) + len(none.Providers()) + len(none.SourceModules()) + len(none.ProviderLabels()) +
		len(none.ProviderFaults()) + len(none.StockFaults(addrs.Parser{})) + len(none.Bytes())
	if hasModule || hasProvider || found > 0 || !none.HasStockHashes(addrs.Provider{}) || none.Clone() != nil {
		t.Error("something is found in a nil file")
	}
	if err := none.Check(); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(){
		"NameTool":       func() { none.NameTool("tofu") },
		"SetHeader":      func() { none.SetHeader("#") },
		"RestoreHeader":  func() { none.RestoreHeader(none) },
		"SetModule":      func() { none.SetModule(lockfile.Module{Key: "net"}) },
		"RemoveModule":   func() { none.RemoveModule("net") },
		"SetProvider":    func() { none.SetProvider(lockfile.Provider{}) },
		"RemoveProvider": func() { none.RemoveProvider(addrs.Provider{}) },
		"SetProviders":   func() { none.SetProviders(nil) },
		"WriteFile":      func() { _, _ = none.WriteFile(nil, "lock") },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if said, ok := recover().(string); !ok || !strings.HasPrefix(said, "lockfile: "+name+" of a nil *File. ") {
					t.Errorf("it panics with %q", said)
				}
			}()
			change()
		})
	}
}

func TestMergeNil(t *testing.T) {
	t.Parallel()
	const text = "# This is a lock.\n\nmodule \"net\" {\n  source = \"git::https://example.com/net.git\"\n\n  hashes = [\n    \"h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\",\n  ]\n}\n"
	some, err := lockfile.Parse([]byte(text), "lock")
	testenv.Must(t, err)
	empty := &lockfile.File{}
	for name, files := range map[string][2][3]*lockfile.File{
		"nothing": {{nil, nil, nil}, {empty, empty, empty}},
		"base":    {{nil, some, some}, {empty, some, some}},
		"ours":    {{nil, nil, some}, {empty, empty, some}},
		"theirs":  {{nil, some, nil}, {empty, some, empty}},
		"sides":   {{some, nil, nil}, {some, empty, empty}},
	} {
		got, conflicts := lockfile.Merge(files[0][0], files[0][1], files[0][2], nil)
		want, _ := lockfile.Merge(files[1][0], files[1][1], files[1][2], nil)
		if diff := cmp.Diff(string(want), string(got)); diff != "" || len(conflicts) > 0 {
			t.Errorf("%s: %v, (-empty +nil):\n%s", name, conflicts, diff)
		}
	}
	(&lockfile.File{}).RestoreHeader(nil)
}
