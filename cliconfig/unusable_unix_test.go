//go:build unix

package cliconfig_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/cotterpin/cotter/cliconfig"
	"github.com/cotterpin/cotter/internal/testenv"
)

func TestSpecialFiles(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		links   map[string]string // their targets, by name
		environ string            // HOME stands for the home directory
		pipe    string            // what is written to the pipe HOME/pipe
		want    string
	}{
		{name: "no file", environ: "TF_CLI_CONFIG_FILE=/dev/null"},
		{name: "no file, by the old variable", environ: "TERRAFORM_CONFIG=/dev/null"},
		{name: "links to nothing", links: map[string]string{".tofurc": "/dev/null", ".terraform.d/a.tfrc": "/dev/null", ".docker/config.json": "/dev/null"}},
		{name: "pipe", environ: "TF_CLI_CONFIG_FILE=HOME/pipe", pipe: credentials("piped"), want: "piped"},
		{name: "link to a pipe", links: map[string]string{".tofurc": "pipe"}, pipe: credentials("piped"), want: "piped"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, target := range test.links {
				link(t, target, filepath.Join(dir, name))
			}
			if test.pipe != "" {
				feed(t, filepath.Join(dir, "pipe"), test.pipe)
			}
			config := load(t, cliconfig.Environment{Home: dir, Variables: []string{strings.ReplaceAll(test.environ, "HOME", dir)}})
			if got := tokenFor(t, config, host); got != test.want {
				t.Errorf("the token is %q, want %q", got, test.want)
			}
			if got, err := config.OCICredentials(t.Context(), "r.com", "x"); err != nil {
				t.Errorf("OCICredentials = %q, %v", shown(got), err)
			}
		})
	}
}

// TestPipeWithoutWriter checks that the end of the context ends the wait for a
// writer.
func TestPipeWithoutWriter(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "pipe")
	testenv.Must(t, syscall.Mkfifo(name, 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, diags := loadAll(ctx, cliconfig.Environment{Variables: []string{"TF_CLI_CONFIG_FILE=" + name}}, cliconfig.Options{})
	check(t, "a pipe without a writer", diags)
	if err, _ := diags[0].Extra.(error); !errors.Is(err, context.Canceled) || !strings.Contains(diags[0].Detail, name) {
		t.Errorf("Load = %v, want the end of the context and the pipe's name", diags)
	}
	if w, err := os.OpenFile(name, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
		_ = w.Close() // ends the goroutine that waits
	}
}

func TestUnusableHome(t *testing.T) {
	t.Parallel()
	for _, home := range []string{"/nonexistent", "/dev/null"} {
		config := load(t, cliconfig.Environment{Home: home, Variables: []string{"XDG_CONFIG_HOME=" + home, "XDG_RUNTIME_DIR=" + home}})
		if got, err := config.OCICredentials(t.Context(), "r.com", "x"); err != nil || shown(got) != "" {
			t.Errorf("HOME=%s: OCICredentials = %q, %v; want none", home, shown(got), err)
		}
	}
	_, diags := loadAll(t.Context(), cliconfig.Environment{Variables: []string{"TF_CLI_CONFIG_FILE=/dev/null/none"}}, cliconfig.Options{})
	if diags.HasErrors() || len(diags) != 1 {
		t.Errorf("a file below a file: Load = %v, want one warning", diags)
	}
}

func link(t *testing.T, target, name string) {
	t.Helper()
	testenv.Must(t, os.MkdirAll(filepath.Dir(name), 0o755))
	testenv.Must(t, os.Symlink(target, name))
}

func feed(t *testing.T, name, text string) {
	t.Helper()
	testenv.Must(t, syscall.Mkfifo(name, 0o600))
	go func() {
		if w, err := os.OpenFile(name, os.O_WRONLY, 0); err == nil {
			_, _ = w.WriteString(text)
			_ = w.Close()
		}
	}()
}
