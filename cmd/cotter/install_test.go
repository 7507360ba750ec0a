package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

func cotterIn(world *modtest.World, dir, cache string) *exec.Cmd {
	cmd := exec.Command(cotterBinary, "install", "--json")
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), world.Env()...), "CI=", "COTTER_CACHE_DIR="+cache, "COTTER_STATE_DIR="+cache+"-state")
	return cmd
}

// files returns the files that stock tools see in a project.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := make(map[string]string)
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || strings.Contains(name, "/.cotter/") {
			return err
		}
		text, err := os.ReadFile(name)
		found[strings.TrimPrefix(name, dir)] = string(text)
		return err
	})
	testenv.Must(t, err)
	return found
}
