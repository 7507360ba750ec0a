package zipfile_test

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/disk/zipfile"
	"github.com/cotterpin/cotter/internal/testenv"
)

// python begins a program that writes to the file that its argument names. Stream cannot seek, as a pipe.
const python = `import sys, zipfile
class Stream:
    def __init__(self, file): self.file = file
    def write(self, data): return self.file.write(data)
    def flush(self): self.file.flush()
out = open(sys.argv[1], "wb")
`

// tools write the files main.tf and docs/a.md of the current directory to an archive: with files of known size, as a stream
// whose sizes follow the contents, and with sizes of 64 bits. What is not installed is skipped by its name.
var tools = map[string][]string{
	"Info-ZIP":                  {"zip", "-q", "-r", "OUT", "."},
	"Info-ZIP, piped":           {"sh", "-c", "command -v zip >/dev/null && zip -q -r - . | cat > OUT"},
	"Info-ZIP, from a pipe":     {"sh", "-c", "cat main.tf | zip -q - - | cat > OUT"},
	"Python":                    {"python3", "-c", python + "z = zipfile.ZipFile(out, 'w', zipfile.ZIP_DEFLATED)\nz.write('main.tf'); z.write('docs'); z.write('docs/a.md')\nz.close()", "OUT"},
	"Python, streamed":          {"python3", "-c", python + "z = zipfile.ZipFile(Stream(out), 'w', zipfile.ZIP_DEFLATED)\nz.write('main.tf'); z.write('docs/a.md')\nz.close()", "OUT"},
	"Python, zip64":             {"python3", "-c", python + "z = zipfile.ZipFile(out, 'w')\nwith z.open('main.tf', 'w', force_zip64=True) as f: f.write(open('main.tf', 'rb').read())\nz.close()", "OUT"},
	"Python, streamed as zip64": {"python3", "-c", python + "z = zipfile.ZipFile(Stream(out), 'w')\nwith z.open('main.tf', 'w', force_zip64=True) as f: f.write(open('main.tf', 'rb').read())\nz.close()", "OUT"},
	"jar":                       {"jar", "cfM", "OUT", "main.tf", "docs"},
	"7z":                        {"7z", "a", "-tzip", "-bd", "OUT", "main.tf", "docs"},
	"bsdtar":                    {"bsdtar", "-c", "-f", "OUT", "--format=zip", "main.tf", "docs"},
	"PowerShell (.NET)":         {"pwsh", "-NoProfile", "-Command", "Compress-Archive -Path main.tf,docs -DestinationPath OUT"},
}

func TestSurvey(t *testing.T) {
	t.Parallel()
	for name, command := range tools {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(command[0]); err != nil {
				t.Skipf("%s is not installed", command[0])
			}
			if _, err := exec.LookPath("zip"); err != nil && command[0] == "sh" {
				t.Skip("zip is not installed")
			}
			dir, out := t.TempDir(), filepath.Join(t.TempDir(), "x.zip")
			testenv.WriteFile(t, filepath.Join(dir, "main.tf"), "# main")
			testenv.WriteFile(t, filepath.Join(dir, "docs", "a.md"), "docs")
			var arguments []string
			for _, argument := range command[1:] {
				arguments = append(arguments, string(bytes.ReplaceAll([]byte(argument), []byte("OUT"), []byte(out))))
			}
			run := exec.CommandContext(t.Context(), command[0], arguments...)
			run.Dir = dir
			if text, err := run.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			raw, err := os.ReadFile(out)
			testenv.Must(t, err)
			compare(t, raw)
		})
	}
}

// TestSurveyGo has what goreleaser, and tools of HashiCorp, write by Go's own package.
func TestSurveyGo(t *testing.T) {
	t.Parallel()
	var raw bytes.Buffer
	w := zip.NewWriter(&raw)
	testenv.Must(t, w.AddFS(os.DirFS("testdata/go")))
	testenv.Must(t, w.Close())
	compare(t, raw.Bytes())
}

// compare reads an archive with this package and with Go's.
func compare(t *testing.T, raw []byte) {
	t.Helper()
	read, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	testenv.Must(t, err)
	want := map[string]string{}
	for _, f := range read.File {
		content, err := f.Open()
		testenv.Must(t, err)
		text, err := io.ReadAll(content)
		testenv.Must(t, err)
		want[f.Name] = string(text)
	}
	a, err := zipfile.Open(bytes.NewReader(raw), int64(len(raw)), zipfile.Limits{Entries: 10})
	testenv.Must(t, err)
	if _, err := io.ReadAll(a.Content(a.Entries[0])); err == nil {
		t.Error("content is read before the layout was checked")
	}
	testenv.Must(t, a.Check())
	got := map[string]string{}
	for _, entry := range a.Entries {
		text, err := io.ReadAll(a.Content(entry))
		testenv.Must(t, err)
		got[entry.Name] = string(text)
	}
	if diff := cmp.Diff(want, got); diff != "" || len(got) == 0 {
		t.Errorf("-want +got:\n%s", diff)
	}
}
