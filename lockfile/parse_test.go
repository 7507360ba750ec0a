package lockfile_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
)

const testdata = "../testdata/lock/"

type problem struct {
	Line    int
	Summary string
}

var errorComment = regexp.MustCompile(`# ERROR: (.*)`)

// wantProblems reads the "# ERROR: summary" comments of a fixture.
func wantProblems(src []byte) []problem {
	var want []problem
	number := 0
	for line := range bytes.Lines(src) {
		number++
		if m := errorComment.FindSubmatch(line); m != nil {
			want = append(want, problem{number, strings.TrimSpace(string(m[1]))})
		}
	}
	return want
}

func gotProblems(err error) []problem {
	var got []problem
	invalid, _ := errors.AsType[*lockfile.SyntaxError](err)
	if invalid == nil {
		return nil
	}
	for _, d := range invalid.Diagnostics {
		got = append(got, problem{d.Subject.Start.Line, d.Summary})
	}
	slices.SortStableFunc(got, func(a, b problem) int { return cmp.Compare(a.Line, b.Line) })
	return got
}

func TestParseFixtures(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(testdata + "*.hcl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			src, err := os.ReadFile(name)
			testenv.Must(t, err)
			// Line endings and a byte order mark make no difference.
			for _, src := range [][]byte{src, bytes.ReplaceAll(src, []byte("\n"), []byte("\r\n")), append([]byte("\ufeff"), src...)} {
				file, err := lockfile.Parse(src, "x")
				if diff := gocmp.Diff(wantProblems(src), gotProblems(err)); diff != "" {
					t.Errorf("problems (-want +got):\n%s%v", diff, err)
				}
				if (file == nil) != (err != nil) {
					t.Errorf("Parse returned file %v with diagnostics %v", file, err)
				}
				if file != nil && !bytes.Equal(file.Bytes(), src) {
					t.Errorf("Bytes differ from what was read:\n%s", file.Bytes())
				}
			}
		})
	}
}

func TestParseSeed(t *testing.T) {
	t.Parallel()
	file := parseFixture(t, "good-seed.hcl")
	want := []lockfile.Module{
		{
			Key: "network", Version: versions.MustParse("2.3.1"), Source: testenv.Source("oci://registry.example.com/opentofu/network-module"), Constraints: versions.MustParseConstraints(">= 2.0.0, < 3.0.0"),
			Hashes: []hashing.Hash{"h1:20qyUpErURKJCQoeJn7W2a1ClvC+CaYTurDKOoFEmvQ="},
		},
		{
			Key: "vpc", Version: versions.MustParse("3.19.0"), Source: testenv.Source("registry.opentofu.org/terraform-aws-modules/vpc/aws"), Constraints: versions.MustParseConstraints(">= 3.0.0, < 4.0.0"),
			Hashes: []hashing.Hash{
				"h1:iqYvVg+3d+3KF+RfDRzUpRE8bnk+NAckZGU2rNixyr4=",
				"zh:559aead08264d5795d3909718cdd05abd49572e84fe55590eef31a88a08fdffd",
			},
		},
		{
			Key: "vpc.nested", Version: versions.MustParse("1.2.5"), Source: testenv.Source("git::https://github.com/example/terraform-module"), Constraints: versions.MustParseConstraints("~> 1.2"),
			Hashes: []hashing.Hash{"h1:iWuPGh2HJ+uqBVwjY66DJxHvoa3HImwnkTPSLUDbYZQ="},
		},
	}
	if diff := gocmp.Diff(want, file.Modules(), cmpopts.IgnoreFields(lockfile.Module{}, "Range")); diff != "" {
		t.Errorf("Modules (-want +got):\n%s", diff)
	}
	if got := file.ProviderLabels(); !slices.Equal(got, []string{"registry.opentofu.org/hashicorp/aws"}) {
		t.Errorf("ProviderLabels = %q", got)
	}
	vpc, ok := file.Module("vpc")
	if !ok || vpc.Range.Start.Line != 8 || vpc.Range.Filename != "good-seed.hcl" {
		t.Errorf("Module(vpc) = %v, %v, want it in line 8", vpc, ok)
	}
	if _, ok := file.Module("nowhere"); ok {
		t.Errorf("Module(nowhere) = true, want false")
	}
}

func TestParseLiterals(t *testing.T) {
	t.Parallel()
	m, ok := parseFixture(t, "good-layouts.hcl").Module("a")
	want := `https://example.com/${x}/%{y}/"quoted"/` + "\u00e9.zip"
	if !ok || m.Source.String() != want {
		t.Errorf("Source = %q, %v, want %q", m.Source, ok, want)
	}
}

// A heredoc is a literal too, but lock files are never written with heredocs, and a comment
// cannot follow on the line that starts one.
func TestParseRefusesHeredocs(t *testing.T) {
	t.Parallel()
	_, err := lockfile.Parse([]byte("module \"a\" {\n  source = <<A\ngit::https://example.com/a.git\nA\n  hashes = [<<A\nh9:x\nA\n  ]\n}\n"), "x")
	want := []problem{{2, "Not a literal string"}, {5, "Not a literal string"}}
	if diff := gocmp.Diff(want, gotProblems(err)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestParseNewerDraft(t *testing.T) {
	t.Parallel()
	file := parseFixture(t, "good-newer-draft.hcl")
	var got []string
	for _, m := range file.SourceModules() {
		got = append(got, fmt.Sprintf("%s %s %d", m.Source, m.Version, len(m.Hashes)))
	}
	const vpc = "registry.opentofu.org/terraform-aws-modules/vpc/aws"
	want := []string{vpc + " 3.19.0 2", vpc + "  0", vpc + "//modules/endpoints 3.18.0 0", "git::https://example.com/vpc.git 1.0.0 0"}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("SourceModules (-want +got):\n%s", diff)
	}
	if got := file.Modules(); len(got) != 1 || got[0].Key != "a" {
		t.Errorf("Modules = %v, want a alone", got)
	}
}

func readFixture(t testing.TB, name string) []byte {
	t.Helper()
	src, err := os.ReadFile(testdata + name)
	testenv.Must(t, err)
	return src
}

func parseFixture(t *testing.T, name string) *lockfile.File {
	t.Helper()
	return parse(t, readFixture(t, name), name)
}

func parse(t testing.TB, src []byte, name string) *lockfile.File {
	t.Helper()
	file, err := lockfile.Parse(src, name)
	if err != nil {
		t.Fatalf("Parse: %v\n%s", err, src)
	}
	return file
}

func TestParseLimits(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, src, want string
		line            int
	}{
		{name: "size", src: strings.Repeat("#\n", lockfile.MaxSize/2) + "#", want: "Lock file too large", line: 1},
		{name: "depth", src: "\nmodule \"a\" {\n hashes = " + strings.Repeat("[", 7_000), want: "Lock file cannot be parsed safely", line: 3},
		{name: "recovery", src: strings.Repeat("module \"a\" {\n x }\n", 7_000), want: "Argument or block definition required", line: 2},
		{name: "zero bytes", src: strings.Repeat("\x00", 1000), want: "Invalid character", line: 1},
		{name: "conflict in a large file", src: "<<<<<<< a\n" + strings.Repeat("module \"a\" {\n}\n", 7_000), want: "Merge conflict in lock file", line: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			file, err := lockfile.Parse([]byte(tt.src), "x")
			if file != nil || err == nil {
				t.Fatalf("Parse = %v, %v, want an error", file, err)
			}
			if got := gotProblems(err)[0]; got != (problem{tt.line, tt.want}) {
				t.Errorf("first problem = %v, want %q in line %d", got, tt.want, tt.line)
			}
		})
	}
}

// A file that is truncated anywhere or has any bit flipped is either an error or a lock with the
// same modules or fewer. Parsing never panics and never adds modules.
func TestParseDamage(t *testing.T) {
	t.Parallel()
	src := readFixture(t, "good-seed.hcl")
	for i := range src {
		lockfile.Parse(src[:i], "x")
		damaged := bytes.Clone(src)
		damaged[i] ^= 1 << (i % 8)
		if file, _ := lockfile.Parse(damaged, "x"); file != nil && len(file.Modules()) > 3 {
			t.Fatalf("byte %d flipped: %d modules", i, len(file.Modules()))
		}
	}
}
