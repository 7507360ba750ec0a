package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/spf13/cobra"
)

// TestMain runs the tests, or the command if this program is started by the name cotter.
// More than a thousand processes start it as the command, and each of them initializes the
// package variables of the tests, so keep these cheap.
func TestMain(m *testing.M) {
	cobra.EnableCommandSorting = false // as main does
	if strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") == "cotter" {
		if err := trustCertificateFile(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		mainWithSteps()
		return
	}
	os.Exit(testenv.Prepare(withCommand{m}).Run())
}

// cotterBinary is the name by which this program runs as cotter.
var cotterBinary string

// withCommand runs tests with cotter in PATH.
type withCommand struct{ tests testenv.Runner }

func (w withCommand) Run() int {
	status, err := w.run()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(status, 1)
	}
	return status
}

func (w withCommand) run() (status int, err error) {
	dir, err := os.MkdirTemp("", "cotter-bin-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if cotterBinary, err = linkSelf(dir); err != nil {
		return 0, err
	}
	if err := os.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH")); err != nil {
		return 0, err
	}
	status = w.tests.Run()
	return status, warm.endIdle()
}

// linkSelf makes a link by which this program runs as cotter, and returns its name. On
// systems without symbolic links it makes a copy.
func linkSelf(dir string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "cotter")
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if err := os.Symlink(self, name); err != nil {
		return name, copyTree(name, self)
	}
	return name, nil
}

func needCommands(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		testenv.Program(t, name)
	}
}
