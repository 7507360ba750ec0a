package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/testenv"
)

// This program is cotter, too, if it is started by that name. What stands in package
// variables of the tests, all those processes have to make: they are more than a thousand.
func TestMain(m *testing.M) {
	if strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") == "cotter" {
		mainWithSteps()
		return
	}
	// Tests of what fails wait for most of their time, before a request is
	// repeated. Others can run beside them. The flag on the command line wins.
	if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	os.Exit(testenv.Prepare(withCommand{m}).Run())
}

// cotterBinary is this program by the name of cotter.
var cotterBinary string

// withCommand runs tests that find cotter in PATH.
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

// linkSelf makes this program run as cotter, and returns its name. Systems without
// symbolic links get a copy.
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
		return name, copyTree(name, self, false)
	}
	return name, nil
}
