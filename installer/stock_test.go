package installer_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/cotterpin/cotter/installer"
	manifests "github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

func stockTools(t *testing.T) map[installer.Dialect]string {
	t.Helper()
	found := make(map[installer.Dialect]string)
	for _, dialect := range []installer.Dialect{installer.DialectTerraform, installer.DialectOpenTofu} {
		if binary, err := exec.LookPath(dialect.String()); err == nil {
			found[dialect] = binary
		}
	}
	return found
}

// calls returns a configuration with module calls. Each word of list is "name=source".
func calls(list string) string {
	var b strings.Builder
	for call := range strings.FieldsSeq(list) {
		name, source, _ := strings.Cut(call, "=")
		b.WriteString("module \"" + name + "\" {\n  source = \"" + source + "\"\n}\n")
	}
	return b.String()
}

// layoutCase is a project on disk, with the directories of its modules that modules.json must
// contain. They determine path.module. DIR stands for the directory that contains all files.
type layoutCase struct {
	name    string            // "KIND: ...", as in [testenv.Kind]
	files   map[string]string // the calls of each module
	links   map[string]string
	root    string
	dataDir string
	want    map[string]string // directories by module key
}

var layoutCases = []layoutCase{
	{
		name:  "local: below the root",
		files: map[string]string{"root": "a=./a b=./b/../c", "root/a": "d=./d", "root/a/d": "", "root/c": ""},
		root:  "root",
		want:  map[string]string{"a": "a", "a.d": "a/d", "b": "c"},
	},
	{
		name:  "local: sources and keys in the form of stock tools, in their order",
		files: map[string]string{"root": "net=./modules/net Upper=./modules/../modules/leaf/ out_side=../shared out-side=./linked", "root/modules/net": "leaf=../leaf", "root/modules/leaf": "", "shared": ""},
		links: map[string]string{"root/linked": "../shared"},
		root:  "root",
		want:  map[string]string{"net": "modules/net", "net.leaf": "modules/leaf", "Upper": "modules/leaf", "out_side": "../shared", "out-side": "../shared"},
	},
	{
		name:  "above: the root, and back by its name",
		files: map[string]string{"infra/envs/prod": "net=../../../infra/modules/net", "infra/modules/net": "sub=../sub", "infra/modules/sub": ""},
		root:  "infra/envs/prod",
		want:  map[string]string{"net": "../../../infra/modules/net", "net.sub": "../../../infra/modules/sub"},
	},
	{
		name:  "above: the root, in a module",
		files: map[string]string{"infra/envs/prod": "net=../../modules/net", "infra/modules/net": "sub=../../../infra/modules/sub", "infra/modules/sub": ""},
		root:  "infra/envs/prod",
		want:  map[string]string{"net": "../../modules/net", "net.sub": "../../../infra/modules/sub"},
	},
	{
		name:  "above: back into the root",
		files: map[string]string{"root": "a=../root/a", "root/a": "up=../../other", "other": ""},
		root:  "root",
		want:  map[string]string{"a": "../root/a", "a.up": "../other"},
	},
	{
		name:  "link: absolute",
		files: map[string]string{"root": "m=./link", "real/mod": "child=../child", "real/child": ""},
		links: map[string]string{"root/link": "DIR/real/mod"},
		root:  "root",
		want:  map[string]string{"m": "DIR/real/mod", "m.child": "DIR/real/child"},
	},
	{
		name:  "link: relative",
		files: map[string]string{"root": "m=./link", "real/mod": "child=../child", "real/child": ""},
		links: map[string]string{"root/link": "../real/mod"},
		root:  "root",
		want:  map[string]string{"m": "../real/mod", "m.child": "../real/child"},
	},
	{
		name:  "link: to a parent",
		files: map[string]string{"root": "m=./link/mod", "real/mod": "child=../child", "real/child": ""},
		links: map[string]string{"root/link": "../real"},
		root:  "root",
		want:  map[string]string{"m": "../real/mod", "m.child": "../real/child"},
	},
	{
		name:  "link: through a link",
		files: map[string]string{"root": "m=./first/mod", "real/deep/mod": ""},
		links: map[string]string{"root/first": "../second", "second": "real/../real/deep"},
		root:  "root",
		want:  map[string]string{"m": "../real/deep/mod"},
	},
	{
		name:  "link: its parent is that of its text",
		files: map[string]string{"root": "m=./link/../b", "root/b": "", "real/a": "", "real/b": ""},
		links: map[string]string{"root/link": "../real/a"},
		root:  "root",
		want:  map[string]string{"m": "b"},
	},
	{
		name:  "root: behind a link",
		files: map[string]string{"deep/er/root": "up=../sib in=./in", "deep/er/sib": "", "deep/er/root/in": ""},
		links: map[string]string{"root": "deep/er/root"},
		root:  "root",
		want:  map[string]string{"up": "../sib", "in": "in"},
	},
	{
		name:  "root: in a directory behind a link",
		files: map[string]string{"deep/er/root": "up=../../out", "deep/out": ""},
		links: map[string]string{"link": "deep"},
		root:  "link/er/root",
		want:  map[string]string{"up": "../../out"},
	},
	{
		name: "machine: a directory of it",
		files: map[string]string{
			"root": "net=DIR/real/net", "real/net": "x=./x abs=DIR/real/other", "real/net/x": "up=../../out", "real/out": "", "real/other": "",
		},
		root: "root",
		want: map[string]string{
			"net": ".terraform/modules/net", "net.x": "DIR/real/net/x", "net.x.up": "DIR/real/out", "net.abs": ".terraform/modules/net.abs",
		},
	},
	{
		name:  "machine: a subdirectory of a directory, from a local module",
		files: map[string]string{"root": "a=./a", "root/a": "s=DIR/real//sub", "real/sub": "up=../x", "real/x": ""},
		root:  "root",
		want:  map[string]string{"a": "a", "a.s": ".terraform/modules/a.s/sub", "a.s.up": "DIR/real/x"},
	},
	{
		name:  "package: in the project",
		files: map[string]string{"root": "p=https://MODTEST_HOST/archives/p.zip//a"},
		root:  "root",
		want:  map[string]string{"p": ".terraform/modules/p/a", "p.b": ".terraform/modules/p/b"},
	},
	{
		name:    "package: in a data directory behind a link",
		files:   map[string]string{"root": "p=https://MODTEST_HOST/archives/p.zip//a", "real": ""},
		links:   map[string]string{"root/link": "../real"},
		root:    "root",
		dataDir: "link/data",
		want:    map[string]string{"p": "link/data/modules/p/a", "p.b": "../real/data/modules/p/b"},
	},
}

// modules.json has the same directories as those that stock tools write, byte for byte. All rows are compared with what is
// wanted, and a sample with stock tools.
func TestModuleDirectories(t *testing.T) {
	t.Parallel()
	byStock := testenv.Sample(layoutCases, func(c layoutCase) string { return testenv.Kind(c.name) })
	for _, test := range layoutCases {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := test.project(t)
			req := request{Project: installer.Project{Dir: filepath.Join(p.dir, test.root), DataDir: test.dataDir, Dialect: installer.DialectTerraform}}
			mustInstall(t, p.installer(), req.Project, req.InstallOptions)
			ours := p.file(test.manifest())
			recorded, err := manifests.ParseManifest([]byte(ours))
			testenv.Must(t, err)
			got := make(map[string]string)
			for _, record := range recorded.Records()[1:] {
				got[record.Key] = strings.ReplaceAll(record.Dir, p.dir, "DIR")
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("directories in modules.json (-want +got):\n%s", diff)
			}
			if report, err := p.installer().Verify(t.Context(), req.Project, installer.VerifyOptions{}); err == nil && !report.OK() {
				t.Errorf("Verify = %+v, want all verified", report)
			}
			if !slices.ContainsFunc(byStock, func(c layoutCase) bool { return c.name == test.name }) {
				return
			}
			for dialect, binary := range stockTools(t) {
				p.remove(t, filepath.Dir(test.manifest()))
				p.runStock(t, req.Dir, []string{"TF_DATA_DIR=" + test.dataDir}, binary, "get")
				if diff := cmp.Diff(p.file(test.manifest()), ours); diff != "" {
					t.Errorf("modules.json (-%s +ours):\n%s", dialect, diff)
				}
			}
		})
	}
}

// project writes the files and links of a case.
func (c layoutCase) project(t *testing.T) *project {
	t.Helper()
	archive := &txtar.Archive{Files: []txtar.File{
		{Name: "config/README.md"},
		{Name: "archives/p.zip/a/main.tf", Data: []byte(calls("b=../b"))},
		{Name: "archives/p.zip/b/main.tf"},
	}}
	p := newProject(t, archive, modtest.Options{})
	for dir, text := range c.files {
		p.write(t, dir+"/main.tf", strings.ReplaceAll(calls(text), "DIR", p.dir))
	}
	for name, target := range c.links {
		if err := os.Symlink(strings.ReplaceAll(target, "DIR", p.dir), filepath.Join(p.dir, name)); err != nil {
			t.Skipf("there are no symbolic links here: %v", err)
		}
	}
	return p
}

// manifest returns the expected modules.json.
func (c layoutCase) manifest() string {
	return filepath.Join(c.root, orElse(c.dataDir, ".terraform"), "modules", "modules.json")
}
