package hostile_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/testenv"
)

const (
	// leastInputs is the minimum number of inputs.
	leastInputs = 1_500
	// mostMemory limits the peak memory of the process that reads all inputs, in bytes.
	mostMemory = 192 << 20
	// mostWork limits the memory that is allocated for a single input, in bytes. An input whose
	// work grows faster than its size would need more.
	mostWork = 1 << 30
	// playground is the variable with the directory for the process that reads the inputs.
	playground = "COTTER_HOSTILE_PLAYGROUND"
)

// TestMain can turn the test binary into the program that reads all inputs, so that the memory of
// only that program is measured.
func TestMain(m *testing.M) {
	if base := os.Getenv(playground); base != "" {
		// The peak is what the readers hold: the limit is below what they may take, so garbage is collected before that.
		debug.SetGCPercent(200)
		debug.SetMemoryLimit(mostMemory * 3 / 4)
		if err := json.NewEncoder(os.Stdout).Encode(readAll(base)); err != nil {
			panic(err)
		}
		return
	}
	os.Exit(testenv.Prepare(m).Run())
}

type report struct {
	Inputs   map[string]int // by class
	Problems []string
	Hardest  string // the input with the most work
	Work     uint64 // bytes allocated for it
	Peak     int64  // bytes; 0 if it cannot be measured
}

// TestCorpus reads all inputs in a separate process with its own home, temporary directory, and
// neighboring files that must not change.
func TestCorpus(t *testing.T) {
	t.Parallel()
	base := newPlayground(t)
	before := fingerprint(t, base)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Dir = filepath.Join(base, "work")
	cmd.Env = append(os.Environ(), playground+"="+base, "HOME="+filepath.Join(base, "home"), "TMPDIR="+filepath.Join(base, "tmp"))
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("reading the inputs ended with %v\n%.2000s", err, stderrOf(err))
	}
	if diff := cmp.Diff(before, fingerprint(t, base)); diff != "" {
		t.Errorf("outside of where packages go (-before +after):\n%s", diff)
	}
	var r report
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("%v\n%.2000s", err, out)
	}
	r.check(t)
}

func (r report) check(t *testing.T) {
	t.Helper()
	for _, problem := range r.Problems {
		t.Error(problem)
	}
	total := 0
	for _, n := range r.Inputs {
		total += n
	}
	t.Logf("%d inputs in %d classes; %d MiB were allocated for the hardest (%s); the peak is %d MiB", total, len(r.Inputs), r.Work>>20, r.Hardest, r.Peak>>20)
	if total < leastInputs {
		t.Errorf("there are %d inputs, want %d at least", total, leastInputs)
	}
	if r.Peak == 0 && runtime.GOOS == "linux" {
		t.Error("the peak of memory is not known")
	}
	if r.Peak > mostMemory && !raceDetector {
		t.Errorf("the peak of memory is %d MiB, want %d at most", r.Peak>>20, mostMemory>>20)
	}
}

func stderrOf(err error) []byte {
	if exit, ok := err.(*exec.ExitError); ok { //nolint:errorlint // cmd.Output wraps nothing
		return exit.Stderr
	}
	return nil
}

func newPlayground(t *testing.T) string {
	t.Helper()
	base := t.TempDir()
	for _, name := range []string{
		"sentinel/x", "sentinel/y", "sentinel/etc/passwd", "home/.gitconfig", "home/.netrc", "home/.ssh/config", "x", "evil", "etc/passwd", "package/a", "canary",
	} {
		path := filepath.Join(base, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"work", "tmp"} {
		if err := os.Mkdir(filepath.Join(base, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return base
}

func fingerprint(t *testing.T, base string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(base, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		content := ""
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			sum := sha256.Sum256(text)
			content = hex.EncodeToString(sum[:])
		}
		found[strings.TrimPrefix(name, base)] = fmt.Sprint(info.Mode(), " ", content)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
