package configread_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/internal/configuration/configread"
	"github.com/cotterpin/cotter/internal/configuration/hcldepth"
	"github.com/cotterpin/cotter/internal/testenv"
)

// FuzzRead reads any bytes as a file of each syntax. If neither Read nor the parser
// reports an error, Read must have found every module block.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`module "a" { source = "./a" }`))
	f.Add([]byte("/**/module/**/a/**/{\nsource=<<E\n./x\nE\nversion=null\n}\n"))
	f.Add([]byte("\ufeffmodule \"a\" {\n source = \"./${\"b\"}\"\n}\nmodule\t\"b\" {source=(1)}"))
	f.Add([]byte(`{"module":[{"a":{"source":"./${1}"}},{"b":[{"source":"x","version":"1"}]}]}`))
	f.Add([]byte(`[{"\u006dodule":{"a":{"source":"x"}}}]`))
	f.Fuzz(func(t *testing.T, src []byte) {
		dir := t.TempDir()
		for _, name := range []string{"main.tf", "main.tf.json"} {
			checkRead(t, filepath.Join(dir, name), src)
		}
	})
}

func checkRead(t *testing.T, name string, src []byte) {
	testenv.Must(t, os.WriteFile(name, src, 0o644))
	defer os.Remove(name)
	m, diags := configread.Reader{Providers: true}.Read(t.Context(), configread.Dir{Path: filepath.Dir(name)})
	for _, diag := range append(diags, m.ProviderDiagnostics...) {
		if diag.Subject == nil || diag.Summary == "" {
			t.Errorf("Read of %q: diagnostic %+v without a place", src, diag)
		}
	}
	want, err := blockNames(t, src, strings.HasSuffix(name, ".json"))
	if diags.HasErrors() || err != nil {
		return
	}
	slices.Sort(want)
	if diff := cmp.Diff(strings.Join(want, " "), callNames(m)); diff != "" {
		t.Errorf("Read of %q (-want +got):\n%s", src, diff)
	}
}

func blockNames(t *testing.T, src []byte, isJSON bool) ([]string, error) {
	parse := func() (*hcl.File, hcl.Diagnostics) { return hcldepth.ParseConfig(t.Context(), src, "", hcl.InitialPos) }
	if isJSON {
		parse = func() (*hcl.File, hcl.Diagnostics) { return hcldepth.ParseJSON(t.Context(), src, "") }
	}
	file, diags := parse()
	if diags.HasErrors() {
		return nil, diags
	}
	content, _, diags := file.Body.PartialContent(&hcl.BodySchema{
		Blocks: []hcl.BlockHeaderSchema{{Type: "module", LabelNames: []string{"name"}}},
	})
	var names []string
	for _, block := range content.Blocks {
		names = append(names, block.Labels[0])
	}
	if diags.HasErrors() {
		return nil, diags
	}
	return names, nil
}

// FuzzInterface compares the interfaces of two arbitrary files. Nothing may panic, an interface
// must not differ from itself, and whatever a change adds, the reverse change must remove.
func FuzzInterface(f *testing.F) {
	f.Add([]byte("variable \"a\" {\n type = object({x = optional(list(string), [])})\n default = <<E\nx ${1}\nE\n}"), []byte(`output "a" { sensitive = true }`), false)
	f.Add([]byte("variable \"a\" {\n validation {\n condition = a(1)[0].b != \"%{if true}${\"x\"}%{endif}\"\n}\n}"), []byte("terraform {\n required_version = 1\n}"), false)
	f.Add([]byte(`{"variable":{"a":{"type":"map","default":{"x":[1]}}},"terraform":{"required_providers":{"a":{"configuration_aliases":["a.b"]}}}}`), []byte(`{"module":{"a":{"b":1}}}`), true)
	f.Fuzz(func(t *testing.T, before, after []byte, isJSON bool) {
		name := "main.tf"
		if isJSON {
			name = "main.tf.json"
		}
		var found []*configread.Interface
		for _, src := range [][]byte{before, after} {
			dir := t.TempDir()
			testenv.WriteFile(t, filepath.Join(dir, name), string(src))
			one, err := configread.Reader{}.ReadInterface(t.Context(), configread.Dir{Path: dir})
			testenv.Must(t, err)
			if same := one.Diff(one); same != nil {
				t.Errorf("%q differs from itself: %v", src, same)
			}
			calls, err := configread.Reader{}.ReadArguments(t.Context(), configread.Dir{Path: dir})
			testenv.Must(t, err)
			for _, call := range calls {
				configread.ForCall((&configread.Interface{}).Diff(one), call)
			}
			found = append(found, one)
		}
		there, back := found[0].Diff(found[1]), found[1].Diff(found[0])
		if len(there) != len(back) {
			t.Fatalf("%d changes, and %d back:\n%v\n%v", len(there), len(back), there, back)
		}
		for i := range there {
			if there[i].Old != back[i].New && there[i].Aspect != "default" {
				t.Errorf("%v, and back %v", there[i], back[i])
			}
		}
	})
}

func BenchmarkRead(b *testing.B) { benchmarkRead(b, configread.Reader{}) }

func BenchmarkReadProviders(b *testing.B) { benchmarkRead(b, configread.Reader{Providers: true}) }

func benchmarkRead(b *testing.B, reader configread.Reader) {
	dir := b.TempDir()
	var size int64
	for i := range 90 {
		var src strings.Builder
		if i%15 == 0 {
			fmt.Fprintf(&src, "module \"m%d\" {\n  source = \"./modules/m%d\"\n}\n\n", i, i)
		}
		for j := range 20 {
			fmt.Fprintf(&src, "resource \"aws_instance\" \"r%d_%d\" {\n  count = var.n > 0 ? 1 : 0\n"+
				"  name  = \"${var.prefix}-%d\"\n  user_data = file(\"${path.module}/x.sh\")\n"+
				"  subnet = module.m%d.subnets[0]\n  tags = merge(var.tags, { Name = \"x\" })\n}\n\n", i, j, j, i/15*15)
		}
		size += int64(src.Len())
		testenv.WriteFile(b, filepath.Join(dir, fmt.Sprintf("f%02d.tf", i)), src.String())
	}
	b.SetBytes(size)
	for b.Loop() {
		m, diags := reader.Read(b.Context(), configread.Dir{Path: dir})
		if diags.HasErrors() || len(m.Calls) != 6 {
			b.Fatal(len(m.Calls), diags)
		}
	}
}
