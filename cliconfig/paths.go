package cliconfig

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

type paths struct {
	Environment

	terraform bool
}

// file is a file to read. If the user named it, it must exist and be readable.
type file struct {
	name  string
	named bool
}

// configFiles returns the configuration files in the order of reading.
func (p paths) configFiles() []file {
	for _, variable := range []string{"TF_CLI_CONFIG_FILE", "TERRAFORM_CONFIG"} {
		if name := p.lookup(variable); name != "" {
			return []file{{name, true}}
		}
	}
	var files []file
	mains := p.mainFiles()
	if i := slices.IndexFunc(mains, exists); i >= 0 {
		files = append(files, file{name: mains[i]})
	}
	dirs := p.configDirectories()
	if i := slices.IndexFunc(dirs, exists); i >= 0 {
		files = append(files, filesIn(dirs[i])...)
	}
	return files
}

// in joins a path to a directory; "" if the directory is not known.
func in(dir string, below ...string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(append([]string{dir}, below...)...)
}

func known(paths ...string) []string {
	return slices.DeleteFunc(paths, func(path string) bool { return path == "" })
}

// mainFiles returns the possible names of the main file, of which the first that exists is used.
func (p paths) mainFiles() []string {
	names, dir := []string{".tofurc", ".terraformrc"}, p.Home
	if p.windows() {
		names, dir = []string{"tofu.rc", "terraform.rc"}, p.lookup("APPDATA")
	}
	if p.terraform {
		names = names[1:]
	}
	for i, name := range names {
		names[i] = in(dir, name)
	}
	return known(append(names, in(p.xdg("XDG_CONFIG_HOME"), "opentofu", "tofurc"))...)
}

// configDirectories returns the possible configuration directories, of which the first that exists is used.
func (p paths) configDirectories() []string {
	return known(p.terraformDirectory(), in(p.xdg("XDG_CONFIG_HOME"), "opentofu"))
}

func (p paths) pluginDirectories() []string {
	var plugins []string
	for _, dir := range known(p.terraformDirectory(), in(p.xdg("XDG_DATA_HOME"), "opentofu")) {
		plugins = append(plugins, in(dir, "plugins"), in(dir, "plugins", p.goos()+"_"+runtime.GOARCH))
	}
	return plugins
}

// impliedMirrors is [ProviderInstallation.ImpliedMirrors], in order of precedence.
func (p paths) impliedMirrors() []string {
	var own string
	if possible := p.configDirectories(); len(possible) > 0 {
		own = possible[max(0, slices.IndexFunc(possible, exists))]
	}
	dirs := []string{in("terraform.d", "plugins"), in(own, "plugins"), in(p.xdg("XDG_DATA_HOME"), "opentofu", "plugins")}
	switch {
	case p.windows():
		dirs = append(dirs, in(p.lookup("APPDATA"), "HashiCorp", "Terraform", "plugins"))
	case p.Home == "" && p.goos() == "darwin":
	case p.goos() == "darwin":
		library := []string{"Library", "Application Support", "io.terraform", "plugins"}
		dirs = append(dirs, in(p.Home, library...), in("/", library...))
	default:
		data, system := cmp.Or(p.lookup("XDG_DATA_HOME"), in(p.Home, ".local", "share")), p.lookup("XDG_DATA_DIRS")
		if system == "" && p.Home != "" {
			system = "/usr/local/share:/usr/share"
		}
		for _, dir := range append([]string{data}, strings.Split(system, ":")...) {
			dirs = append(dirs, in(dir, "terraform", "plugins"))
		}
	}
	return known(dirs...)
}

// terraformDirectory returns terraform's own directory, which tofu also uses; "" without a home directory.
func (p paths) terraformDirectory() string {
	if p.windows() {
		return in(p.lookup("APPDATA"), "terraform.d")
	}
	return in(p.Home, ".terraform.d")
}

// xdg returns a directory of the XDG specification, which only tofu uses, and not on Windows.
func (p paths) xdg(name string) string {
	if p.terraform || p.windows() {
		return ""
	}
	return p.lookup(name)
}

func (p paths) netrcFile() file {
	if name := p.lookup("NETRC"); name != "" {
		return file{name, true}
	}
	name := ".netrc"
	if p.windows() {
		name = "_netrc"
	}
	return file{name: in(p.Home, name)}
}

// dockerFiles returns the possible files of Docker and Podman. All are used; the first has precedence.
func (p paths) dockerFiles() []file {
	var first string
	dotConfig := in(p.Home, ".config")
	switch p.goos() {
	case "linux":
		first = p.lookup("XDG_RUNTIME_DIR")
	case "windows", "darwin":
		first = dotConfig
	}
	names := known(
		in(first, "containers", "auth.json"), in(cmp.Or(p.lookup("XDG_CONFIG_HOME"), dotConfig), "containers", "auth.json"),
		in(p.Home, ".docker", "config.json"), in(p.Home, ".dockercfg"))
	var files []file
	for _, name := range slices.Compact(names) {
		files = append(files, file{name: name})
	}
	return files
}

// filesIn returns the configuration files in a directory, sorted by name; none if it cannot be listed, as
// in stock tools.
func filesIn(dir string) []file {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var files []file
	for _, entry := range entries {
		name := entry.Name()
		if strings.HasSuffix(name, ".tfrc") || strings.HasSuffix(name, ".tfrc.json") {
			files = append(files, file{name: filepath.Join(dir, name)})
		}
	}
	return files
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
