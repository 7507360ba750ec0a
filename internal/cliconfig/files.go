package cliconfig

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// file is a file to read. One that was named must be there.
type file struct {
	name  string
	named bool
}

// files are the configuration files in the order in which they are read.
func (s Source) files() []file {
	for _, variable := range []string{"TF_CLI_CONFIG_FILE", "TERRAFORM_CONFIG"} {
		if name := s.lookup(variable); name != "" {
			return []file{{name, true}}
		}
	}
	var files []file
	if i := slices.IndexFunc(s.mainFiles(), exists); i >= 0 {
		files = append(files, file{name: s.mainFiles()[i]})
	}
	if i := slices.IndexFunc(s.directories(), exists); i >= 0 {
		files = append(files, inDirectory(s.directories()[i])...)
	}
	return files
}

// mainFiles are the places of the main file, the best one first.
func (s Source) mainFiles() []string {
	names, dir := []string{".tofurc", ".terraformrc"}, s.Home
	if s.windows() {
		names, dir = []string{"tofu.rc", "terraform.rc"}, s.lookup("APPDATA")
	}
	if s.Terraform {
		names = names[1:]
	}
	var files []string
	for _, name := range names {
		if dir != "" {
			files = append(files, filepath.Join(dir, name))
		}
	}
	if xdg := s.xdg("XDG_CONFIG_HOME"); xdg != "" {
		files = append(files, filepath.Join(xdg, "opentofu", "tofurc"))
	}
	return files
}

// directories are the places of the configuration directory, the best one
// first.
func (s Source) directories() []string {
	dirs := s.terraformDirectory()
	if xdg := s.xdg("XDG_CONFIG_HOME"); xdg != "" {
		dirs = append(dirs, filepath.Join(xdg, "opentofu"))
	}
	return dirs
}

// pluginDirectories are where helpers are looked for.
func (s Source) pluginDirectories() []string {
	dirs := s.terraformDirectory()
	if xdg := s.xdg("XDG_DATA_HOME"); xdg != "" {
		dirs = append(dirs, filepath.Join(xdg, "opentofu"))
	}
	var plugins []string
	for _, dir := range dirs {
		plugins = append(plugins,
			filepath.Join(dir, "plugins"),
			filepath.Join(dir, "plugins", s.goos()+"_"+runtime.GOARCH))
	}
	return plugins
}

// terraformDirectory is terraform's own directory, which tofu shares, if there
// is a place for it.
func (s Source) terraformDirectory() []string {
	switch appData := s.lookup("APPDATA"); {
	case s.windows() && appData != "":
		return []string{filepath.Join(appData, "terraform.d")}
	case !s.windows() && s.Home != "":
		return []string{filepath.Join(s.Home, ".terraform.d")}
	}
	return nil
}

// xdg is a directory of the XDG specification, which tofu alone heeds, and not
// on Windows.
func (s Source) xdg(name string) string {
	if s.Terraform || s.windows() {
		return ""
	}
	return s.lookup(name)
}

// inDirectory are the configuration files of a directory, sorted by name.
func inDirectory(dir string) []file {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // one that cannot be listed is as good as none, as in stock tools
	}
	var files []file
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasSuffix(name, ".tfrc") && !strings.HasSuffix(name, ".tfrc.json") {
			continue
		}
		files = append(files, file{name: filepath.Join(dir, name)})
	}
	return files
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
