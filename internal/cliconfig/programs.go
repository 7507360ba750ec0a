package cliconfig

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/go-version"
)

// programs is where helper programs are found, and what they get.
type programs struct {
	plugins []string // directories of credentials helpers
	path    []string // directories of Docker's helpers
	windows bool
	// environ returns the environment that they get. It is a function because
	// the variables hold secrets, and package fmt prints no results of those.
	environ func() []string
}

func (s Source) programs() programs {
	p := programs{plugins: s.pluginDirectories(), environ: func() []string { return s.Environ }, windows: s.windows()}
	for _, dir := range filepath.SplitList(s.lookup("PATH")) {
		if filepath.IsAbs(dir) { // others depend on where the user happens to be
			p.path = append(p.path, dir)
		}
	}
	return p
}

// plugin finds the newest version of a plugin: a file with its name, or with
// "_vX.Y.Z" behind the name. Of two that are equal the first one is taken.
func (p programs) plugin(name string) (string, error) {
	var best string
	var newest *version.Version
	for _, dir := range p.plugins {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // most of the directories do not exist
		}
		for _, entry := range entries {
			v := p.pluginVersion(entry.Name(), name)
			file := filepath.Join(dir, entry.Name())
			if v != nil && (newest == nil || v.GreaterThan(newest)) && p.executable(file) {
				best, newest = file, v
			}
		}
	}
	if best == "" {
		return "", fmt.Errorf("there is no program %q in any of %q", name, p.plugins)
	}
	return filepath.Abs(best)
}

// pluginVersion is the version in a plugin's file name: 0.0.0 where there is
// none, and nil for another file.
func (p programs) pluginVersion(file, name string) *version.Version {
	if p.windows {
		file = strings.TrimSuffix(file, ".exe")
	}
	behind, ok := strings.CutPrefix(file, name)
	if !ok {
		return nil
	}
	if behind == "" {
		behind = "_v0.0.0"
	}
	number, ok := strings.CutPrefix(behind, "_v")
	if !ok {
		return nil
	}
	v, err := version.NewSemver(number)
	if err != nil {
		return nil
	}
	return v
}

// onPath finds a program on the PATH.
func (p programs) onPath(name string) (string, error) {
	if p.windows {
		name += ".exe"
	}
	for _, dir := range p.path {
		if file := filepath.Join(dir, name); p.executable(file) {
			return file, nil
		}
	}
	return "", fmt.Errorf("there is no program %q on the PATH", name)
}

func (p programs) executable(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && (p.windows || info.Mode()&0o111 != 0)
}

var errTooMuch = errors.New("it printed too much")
