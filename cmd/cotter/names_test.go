package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/text/unicode/norm"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/cli/records"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/internal/text/textform"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/modtest"
)

// The parts of names. Test files, whose names are part of keys, cannot have the refused ones. All other files can.
var (
	nameParts = []string{
		"a", "Z", "0", "-", "_", ".", "..", " ", "  ", "+", ",", "(", ")", "@", "=", "'", "&", `"`, "#", "$", "${", "%", "%{", "%20", "}", "~", "!", ";", "`", "^", "[", "]", "{",
		"*", "?", "<", ">", "|", ":", "\u00fc", "u\u0308", "\u65e5\u672c", "\u3000", "\u00a0", "\u200d", "\U0001f600", "test", "tftest", ".hcl",
	}
	refusedParts = []string{`\`, "\n", "\t", "\x1b[2J", "\x7f", "\u202e", "\u0085", "\u2028", "\ufeff", "\xff", "\xed\xa0\x80"}
)

// namedCall is a call as one of the outputs has it. Place is the file and the line.
type namedCall struct{ Key, Source, Place string }

func (c namedCall) isLocal() bool { return strings.HasPrefix(c.Source, "./") }

// TestNames gives test files, configuration files and directories random names. The calls that the reader of
// configuration returns have the same keys, sources and places in addresses, the lock, modules.json, JSON and bills of
// materials.
func TestNames(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("other systems have rules of their own for the names of files")
	}
	s := newSite(t, modtest.New(t, fstest.MapFS{"registry/acme/net/aws/1.0.0/main.tf": {}}))
	want, refused := s.writeNames(t)
	s.mustRun(t, "install")
	for _, output := range []struct {
		name string
		got  []namedCall
		// want returns what the output has of a call, or nothing.
		want func(c namedCall) namedCall
	}{
		{"the reader and addresses", s.namesRead(t, "tests", nil), func(c namedCall) namedCall { return c }},
		{"JSON", s.namesInTree(t), func(c namedCall) namedCall { return c }},
		{"the lock", s.namesInLock(t), func(c namedCall) namedCall {
			if c.isLocal() {
				return namedCall{}
			}
			return namedCall{Key: c.Key, Source: c.Source}
		}},
		{"modules.json", s.namesInManifest(t), func(c namedCall) namedCall {
			if c.isLocal() {
				return namedCall{c.Key, c.Source, path.Clean(c.Source)}
			}
			return namedCall{c.Key, c.Source, ".terraform/modules/" + c.Key}
		}},
		{"the bill of materials", s.namesInBill(t), func(c namedCall) namedCall {
			if c.isLocal() {
				return namedCall{}
			}
			i := strings.LastIndexByte(c.Place, ':')
			file, err := textform.Path(c.Place[:i]).MarshalText()
			testenv.Must(t, err)
			return namedCall{Place: fmt.Sprintf("%s (%s%s)", c.Key, file, c.Place[i:])}
		}},
	} {
		var wanted []namedCall
		for _, c := range want {
			if c = output.want(c); c != (namedCall{}) {
				wanted = append(wanted, c)
			}
		}
		sorted := cmpopts.SortSlices(func(a, b namedCall) bool { return a.Key+a.Place < b.Key+b.Place })
		if diff := cmp.Diff(wanted, output.got, sorted); diff != "" {
			t.Errorf("%s (-want +got):\n%s", output.name, diff)
		}
	}
	s.mustRun(t, "verify")
	s.mustRun(t, "install --locked --offline")
	s.namesRead(t, "refused", refused)
}

// writeNames writes a project. The test files in its directory "refused" have names that cannot be in keys.
func (s *site) writeNames(t *testing.T) (want []namedCall, refused []string) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	name := func(parts []string) string {
		var text strings.Builder
		for range 1 + random.IntN(6) {
			text.WriteString(parts[random.IntN(len(parts))])
		}
		return text.String()
	}
	for i := range 100 {
		// The number makes names different. A file whose name begins with a dot is hidden.
		inTest, inFile, inRefused := name(nameParts)+strconv.Itoa(i), name(slices.Concat(nameParts, refusedParts))+strconv.Itoa(i), name(nameParts)+name(refusedParts)+strconv.Itoa(i)
		source := string(s.world.Host()) + "/acme/net/aws"
		if i%2 == 0 {
			// HCL normalizes strings, and has no form for "$${".
			source = "./" + strings.ReplaceAll(norm.NFC.String(inTest), "$$", "$")
			s.write(t, filepath.Join(source, "main.tf"), "")
		}
		literal := strings.NewReplacer("${", "$${", "%{", "%%{").Replace(source)
		if file := "tests/" + inTest + ".tftest.hcl"; !strings.HasPrefix(inTest, ".") {
			s.write(t, file, fmt.Sprintf("run \"x\" {\n  module {\n    source = %s\n  }\n}\n", strconv.Quote(literal)))
			want = append(want, namedCall{"test.tests." + inTest + ".x", source, file + ":2"})
		}
		if file := inFile + ".tf.json"; !strings.HasPrefix(file, ".") {
			call := fmt.Sprint("c", i)
			text, err := json.Marshal(map[string]any{"module": map[string]any{call: map[string]string{"source": literal}}})
			testenv.Must(t, err)
			s.write(t, file, string(text))
			want = append(want, namedCall{call, source, file + ":1"})
		}
		if file := "refused/" + inRefused + ".tftest.hcl"; !strings.HasPrefix(inRefused, ".") {
			s.write(t, file, "run \"x\" {\n  module {\n    source = \"./x\"\n  }\n}\n")
			refused = append(refused, file)
		}
	}
	return want, refused
}

// namesRead reads the root module with a directory of tests. The reader must refuse the test files of these names, and
// no others.
func (s *site) namesRead(t *testing.T, tests string, refused []string) (read []namedCall) {
	t.Helper()
	reader, err := installer.DefaultConfigReader(installer.Project{Dir: s.project, Inputs: config.Inputs{TestDir: tests}})
	testenv.Must(t, err)
	module, diags := reader.ReadModule(t.Context(), config.Dir{Dir: s.project, Display: "."})
	var named []string
	for _, diag := range diags {
		named = append(named, diag.Subject.Filename)
	}
	if diff := cmp.Diff(refused, named, cmpopts.SortSlices(strings.Compare)); diff != "" {
		t.Errorf("refused test files (-want +got):\n%s", diff)
	}
	for _, call := range module.Calls {
		again, err := addrs.ParseModule(call.PathIn(nil).String())
		testenv.Must(t, err)
		if diff := cmp.Diff(call.PathIn(nil), again); diff != "" {
			t.Errorf("ParseModule (-want +got):\n%s", diff)
		}
		read = append(read, namedCall{again.String(), call.Source, fmt.Sprintf("%s:%d", call.Range.Filename, call.Range.Start.Line)})
	}
	return read
}

func (s *site) namesInTree(t *testing.T) (shown []namedCall) {
	t.Helper()
	var tree records.Tree
	testenv.Must(t, json.Unmarshal([]byte(s.mustRun(t, "tree --json")), &tree))
	for _, m := range tree.Modules {
		shown = append(shown, namedCall{m.Key, m.Source, fmt.Sprintf("%s:%d", m.File, m.Line)})
	}
	return shown
}

func (s *site) namesInLock(t *testing.T) (locked []namedCall) {
	t.Helper()
	lock, err := lockfile.Parse([]byte(s.lockText(t)), lockfile.Name)
	testenv.Must(t, err)
	for _, entry := range lock.Modules() {
		locked = append(locked, namedCall{Key: entry.Key, Source: entry.Source.String()})
	}
	return locked
}

// namesInManifest returns directories as places.
func (s *site) namesInManifest(t *testing.T) (recorded []namedCall) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.project, ".terraform", "modules", "modules.json"))
	testenv.Must(t, err)
	manifest, err := project.ParseManifest(text)
	testenv.Must(t, err)
	for _, record := range manifest.Records() {
		if record.Key != "" {
			recorded = append(recorded, namedCall{record.Key, record.Source, record.Dir})
		}
	}
	return recorded
}

// namesInBill returns places that begin with the key.
func (s *site) namesInBill(t *testing.T) (listed []namedCall) {
	t.Helper()
	var bill cyclonedx.BOM
	testenv.Must(t, cyclonedx.NewBOMDecoder(strings.NewReader(s.mustRun(t, "sbom")), cyclonedx.BOMFileFormatJSON).Decode(&bill))
	for _, c := range *bill.Components {
		for _, p := range *c.Properties {
			if p.Name == "cotter:call" {
				listed = append(listed, namedCall{Place: p.Value})
			}
		}
	}
	return listed
}
