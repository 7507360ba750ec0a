package cliconfig

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// paths finds the files and programs of an environment.
type paths struct {
	Environment

	// terraform selects the paths of terraform instead of those of tofu.
	terraform bool
}

// file is a file to read. If the user named the file, it is an error if it does not exist
// or cannot be read.
type file struct {
	name  string
	named bool
}

// configFiles returns the configuration files in the order in which they are read.
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

// mainFiles returns the possible names of the main file. The first one that exists is used.
func (p paths) mainFiles() []string {
	names, dir := []string{".tofurc", ".terraformrc"}, p.Home
	if p.windows() {
		names, dir = []string{"tofu.rc", "terraform.rc"}, p.lookup("APPDATA")
	}
	if p.terraform {
		names = names[1:]
	}
	var files []string
	for _, name := range names {
		if dir != "" {
			files = append(files, filepath.Join(dir, name))
		}
	}
	if xdg := p.xdg("XDG_CONFIG_HOME"); xdg != "" {
		files = append(files, filepath.Join(xdg, "opentofu", "tofurc"))
	}
	return files
}

// configDirectories returns the possible configuration directories. The first one that
// exists is used.
func (p paths) configDirectories() []string {
	dirs := p.terraformDirectory()
	if xdg := p.xdg("XDG_CONFIG_HOME"); xdg != "" {
		dirs = append(dirs, filepath.Join(xdg, "opentofu"))
	}
	return dirs
}

// pluginDirectories returns the directories that may contain credentials helpers.
func (p paths) pluginDirectories() []string {
	dirs := p.terraformDirectory()
	if xdg := p.xdg("XDG_DATA_HOME"); xdg != "" {
		dirs = append(dirs, filepath.Join(xdg, "opentofu"))
	}
	var plugins []string
	for _, dir := range dirs {
		plugins = append(plugins,
			filepath.Join(dir, "plugins"),
			filepath.Join(dir, "plugins", p.goos()+"_"+runtime.GOARCH))
	}
	return plugins
}

// impliedMirrors returns the directories of providers that are used if nothing else is
// configured, in order of precedence. They need not exist. The first one is relative to the
// directory of the configuration.
func (p paths) impliedMirrors() []string {
	dirs := []string{filepath.Join("terraform.d", "plugins")}
	add := func(base string, below ...string) {
		if base != "" {
			dirs = append(dirs, filepath.Join(append([]string{base}, below...)...))
		}
	}
	own := p.configDirectories()
	if i := slices.IndexFunc(own, exists); i >= 0 {
		own = own[i:]
	}
	if len(own) > 0 {
		add(own[0], "plugins")
	}
	add(p.xdg("XDG_DATA_HOME"), "opentofu", "plugins")
	switch {
	case p.windows():
		add(p.lookup("APPDATA"), "HashiCorp", "Terraform", "plugins")
	case p.goos() == "darwin":
		if p.Home != "" {
			add(p.Home, "Library", "Application Support", "io.terraform", "plugins")
			add("/", "Library", "Application Support", "io.terraform", "plugins")
		}
	default:
		data, system := p.lookup("XDG_DATA_HOME"), p.lookup("XDG_DATA_DIRS")
		if data == "" && p.Home != "" {
			data = filepath.Join(p.Home, ".local", "share")
		}
		if system == "" && p.Home != "" {
			system = "/usr/local/share:/usr/share"
		}
		add(data, "terraform", "plugins")
		for dir := range strings.SplitSeq(system, ":") {
			add(dir, "terraform", "plugins")
		}
	}
	return dirs
}

// terraformDirectory returns terraform's own directory, which tofu also uses. It returns
// nil if there is no home directory.
func (p paths) terraformDirectory() []string {
	switch appData := p.lookup("APPDATA"); {
	case p.windows() && appData != "":
		return []string{filepath.Join(appData, "terraform.d")}
	case !p.windows() && p.Home != "":
		return []string{filepath.Join(p.Home, ".terraform.d")}
	}
	return nil
}

// xdg returns a directory of the XDG specification. Only tofu uses these directories, and
// only on systems other than Windows.
func (p paths) xdg(name string) string {
	if p.terraform || p.windows() {
		return ""
	}
	return p.lookup(name)
}

// netrcFile returns the netrc file. Its name is empty if there is no home directory.
func (p paths) netrcFile() file {
	if name := p.lookup("NETRC"); name != "" {
		return file{name, true}
	}
	switch {
	case p.Home == "":
		return file{}
	case p.windows():
		return file{name: filepath.Join(p.Home, "_netrc")}
	}
	return file{name: filepath.Join(p.Home, ".netrc")}
}

// dockerFiles returns the possible configuration files of Docker and Podman. All of them
// are used; the first one has the highest precedence.
func (p paths) dockerFiles() []file {
	var files []file
	add := func(parts ...string) {
		name := filepath.Join(parts...)
		if parts[0] != "" && (len(files) == 0 || files[len(files)-1].name != name) {
			files = append(files, file{name: name})
		}
	}
	dotConfig := ""
	if p.Home != "" {
		dotConfig = filepath.Join(p.Home, ".config")
	}
	switch p.goos() {
	case "linux":
		add(p.lookup("XDG_RUNTIME_DIR"), "containers", "auth.json")
	case "windows", "darwin":
		add(dotConfig, "containers", "auth.json")
	}
	if xdg := p.lookup("XDG_CONFIG_HOME"); xdg != "" {
		dotConfig = xdg
	}
	add(dotConfig, "containers", "auth.json")
	add(p.Home, ".docker", "config.json")
	add(p.Home, ".dockercfg")
	return files
}

// filesIn returns the configuration files in a directory, sorted by name. A directory that
// cannot be listed counts as empty, as in stock tools.
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
