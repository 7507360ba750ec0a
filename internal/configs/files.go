package configs

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// file is one configuration file of a directory.
type file struct {
	name     string
	json     bool
	tofu     bool
	override bool
}

// IsConfigFile reports whether stock tools of either dialect read a file with this name as part
// of a module. The name has no directory.
func IsConfigFile(name string) bool {
	_, ok := parseName(name)
	return ok
}

// suffixes are the suffixes of configuration files. No name ends in two of them, so their order
// does not matter.
var suffixes = [...]struct {
	text       string
	json, tofu bool
}{
	{".tf", false, false},
	{".tf.json", true, false},
	{".tofu", false, true},
	{".tofu.json", true, true},
}

func parseName(name string) (file, bool) {
	if strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") ||
		strings.HasPrefix(name, "#") && strings.HasSuffix(name, "#") {
		return file{}, false // hidden files, and backup files of editors
	}
	for _, s := range suffixes {
		if stem, ok := strings.CutSuffix(name, s.text); ok {
			override := stem == "override" || strings.HasSuffix(stem, "_override")
			return file{name: name, json: s.json, tofu: s.tofu, override: override}, true
		}
	}
	return file{}, false
}

// Empty reports whether a root module has no files that the dialect reads: no configuration and,
// if dir.Tests is set, no tests. It parses nothing. It returns an error if the directory cannot
// be listed.
func (r Reader) Empty(dir Dir) (bool, error) {
	names, err := namesIn(dir)
	if err != nil || len(r.selectFiles(names)) > 0 {
		return false, err
	}
	if dir.Tests == "" {
		return true, nil
	}
	isTest := func(name string) bool { return r.isTest(name, names) }
	if slices.ContainsFunc(names, isTest) {
		return false, nil
	}
	dir.Path = filepath.Join(dir.Path, filepath.FromSlash(dir.Tests))
	if names, err = namesIn(dir); errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	return !slices.ContainsFunc(names, isTest), err
}

// namesIn returns the sorted names of a directory's files.
func namesIn(dir Dir) ([]string, error) {
	d, err := openDirectory(dir)
	if err != nil {
		return nil, err
	}
	defer d.close()
	return d.names()
}

// selectFiles returns the files to read among a directory's sorted names: first the ordinary
// files, then the override files, each group sorted by name.
func (r Reader) selectFiles(names []string) []file {
	var declaring, overriding []file
	for _, name := range names {
		f, ok := parseName(name)
		if !ok || r.skips(f, names) {
			continue
		}
		if f.override {
			overriding = append(overriding, f)
		} else {
			declaring = append(declaring, f)
		}
	}
	return append(declaring, overriding...)
}

// skips reports whether the dialect does not read a file. The terraform dialect ignores .tofu
// files. In the tofu dialect they replace the .tf files of the same name.
func (r Reader) skips(f file, names []string) bool {
	if r.Terraform || f.tofu {
		return r.Terraform && f.tofu
	}
	twin := strings.TrimSuffix(f.name, ".tf") + ".tofu"
	if f.json {
		twin = strings.TrimSuffix(f.name, ".tf.json") + ".tofu.json"
	}
	_, found := slices.BinarySearch(names, twin)
	return found
}
