package testenv_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/testenv"
)

type runner func() int

func (r runner) Run() int { return r() }

func TestPrepare(t *testing.T) {
	for _, variable := range []string{"TMPDIR", "SSL_CERT_DIR", "GODEBUG"} {
		t.Setenv(variable, "") // so that the test's end restores it
	}
	var temporary string
	status := testenv.Prepare(runner(func() int {
		certificates := os.Getenv("SSL_CERT_DIR")
		if entries, err := os.ReadDir(certificates); certificates == "" || err != nil || len(entries) > 0 {
			t.Errorf("SSL_CERT_DIR is %q, which has %v, %v", certificates, entries, err)
		}
		if settings := os.Getenv("GODEBUG"); !strings.Contains(settings, "tlsmlkem=0") {
			t.Errorf("GODEBUG is %q", settings)
		}
		if entries := testenv.Variables(); !slices.Contains(entries, "SSL_CERT_DIR="+certificates) {
			t.Errorf("the variables for other environments are %q", entries)
		}
		var err error
		if temporary, err = os.MkdirTemp("", ""); err != nil {
			t.Fatal(err)
		}
		return 3
	})).Run()
	if status != 3 {
		t.Errorf("status %d, want that of the tests", status)
	}
	if os.Getenv("TMPDIR") == "" {
		return // there is no in-memory directory, so nothing must be removed
	}
	if _, err := os.Lstat(temporary); !os.IsNotExist(err) {
		t.Errorf("a temporary directory is left: %v", err)
	}
}

func TestChosenDirectory(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("SSL_CERT_DIR", "")
	testenv.Prepare(runner(func() int {
		if got := os.Getenv("TMPDIR"); got != dir {
			t.Errorf("TMPDIR is %q, want %q", got, dir)
		}
		if got := filepath.Dir(filepath.Dir(os.Getenv("SSL_CERT_DIR"))); got != dir {
			t.Errorf("the certificates are in %q, want %q", got, dir)
		}
		return 0
	})).Run()
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("left over: %v, %v", entries, err)
	}
}

func TestSettingsOfTheUser(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for name, want := range map[string]string{
		"TF_CLI_CONFIG_FILE":    os.DevNull,
		"TF_CLI_ARGS":           "",
		"TOFU_ALWAYS":           "",
		"COTTER_GIT_BACKEND":    "",
		"COTTER_TEST_RENOVATE":  "the user's",
		"PRODUCT_TF_COTTER_URL": "the user's",
	} {
		t.Setenv(name, "the user's")
		testenv.Prepare(runner(func() int {
			if got := os.Getenv(name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
			return 0
		})).Run()
	}
}

func TestOwnProcess(t *testing.T) {
	t.Parallel()
	t.Run("a result", func(t *testing.T) {
		t.Parallel()
		own := os.Getpid()
		got, err := testenv.OwnProcess(t, func() string { return fmt.Sprint(os.Getppid()) })
		if err != nil || got != fmt.Sprint(own) {
			t.Errorf("OwnProcess = %q, %v, want a child of process %d", got, err, own)
		}
	})
	t.Run("the end of the process", func(t *testing.T) {
		t.Parallel()
		got, err := testenv.OwnProcess(t, func() string {
			fmt.Println("it ends")
			os.Exit(3)
			return ""
		})
		if err == nil || !strings.Contains(got, "it ends") {
			t.Errorf("OwnProcess = %q, %v, want an error and the output", got, err)
		}
	})
}

func TestSample(t *testing.T) {
	t.Parallel()
	rows, files := []string{"link: shallow", "link: pack", "repository", "pipe: pack"}, []string{"testdata/a.txtar", "testdata/b.txtar", "testdata/c.txtar"}
	wantRows, wantFiles := []string{"link: shallow", "repository", "pipe: pack"}, files[:2]
	if *testenv.Exhaustive {
		wantRows, wantFiles = rows, files
	}
	if diff := cmp.Diff(wantRows, testenv.Sample(rows, testenv.Kind)); diff != "" {
		t.Errorf("Sample (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(wantFiles, testenv.SampleFiles(files, "b", "a")); diff != "" {
		t.Errorf("SampleFiles (-want +got):\n%s", diff)
	}
	defer func() {
		if recover() == nil {
			t.Error("SampleMap accepts the name of no row")
		}
	}()
	testenv.SampleMap(map[string]int{"a": 1}, "b")
}
