//go:build unix

package configread_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/configuration/configread"
	"github.com/cotterpin/cotter/internal/testenv"
)

// TestVariablePipes reads values from pipes that the user named, such as those that a shell
// creates for -var-file=<(command), but not from other pipes.
func TestVariablePipes(t *testing.T) {
	t.Parallel()
	const src = "variable \"s\" { default = \"./default\" }\nmodule \"a\" { source = var.s }\nmodule \"b\" { source = \"${var.s}/b\" }\n"
	for _, test := range []struct {
		name, pipe, file string
		want             string // the source, or a part of the error
	}{
		{name: "pipe", pipe: "values", file: "values", want: "./piped"},
		{name: "nothing", file: "/dev/null", want: "./default"},
		{name: "the project's own", pipe: "terraform.tfvars", want: "not a regular file"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			testenv.WriteFile(t, filepath.Join(dir, "main.tf"), src)
			if test.pipe != "" {
				mkfifo(t, filepath.Join(dir, test.pipe))
			}
			var inputs config.Inputs
			if test.file != "" {
				inputs.Variables = []config.Variable{{File: test.file}}
			}
			if test.file == test.pipe {
				go func() {
					if w, err := os.OpenFile(filepath.Join(dir, test.pipe), os.O_WRONLY, 0); err == nil {
						_, _ = w.WriteString("s = \"./piped\"\n")
						_ = w.Close()
					}
				}()
			}
			source, diags := readSource(t, configread.Dir{Path: dir, Tree: configread.NewTree(inputs)})
			if source != test.want && !strings.Contains(diags.Error(), test.want) {
				t.Errorf("source %q, %v; want %q", source, diags, test.want)
			}
		})
	}
}

// TestVariablePipeWithoutWriter checks that the end of the context ends the wait for a writer.
func TestVariablePipeWithoutWriter(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	testenv.WriteFile(t, filepath.Join(dir, "main.tf"), "variable \"s\" {}\nmodule \"a\" { source = var.s }\n")
	pipe := filepath.Join(dir, "values")
	mkfifo(t, pipe)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		inputs := config.Inputs{Variables: []config.Variable{{File: pipe}}}
		_, diags := configread.Reader{}.Read(ctx, configread.Dir{Path: dir, Tree: configread.NewTree(inputs)})
		err, _ := diags[0].Extra.(error)
		done <- err
	}()
	w, err := os.OpenFile(pipe, os.O_WRONLY, 0) // waits for the reader
	testenv.Must(t, err)
	defer w.Close()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("Read: %v, want the end of the context", err)
	}
}

func mkfifo(t *testing.T, name string) {
	t.Helper()
	testenv.Must(t, syscall.Mkfifo(name, 0o600))
}
