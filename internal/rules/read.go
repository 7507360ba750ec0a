package rules

import (
	"path/filepath"

	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/policy"
)

// Read reads the policy that applies to a root module. If file is not "", that is the policy in
// file. Otherwise it is the nearest policy in a cotter.hcl in dir or above it in the same git
// repository, and only its restrictions count. The policies in more apply as well. An error about
// the content of a file is a *policy.FileError.
func Read(dir, file string, more []*policy.Policy) (Rules, error) {
	if file != "" {
		found, err := readPolicy(file, file)
		if err != nil {
			return nil, err
		}
		return append(Rules{found}, more...), nil
	}
	files, err := project.FilesAbove(dir, policy.FileName)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		found, err := readPolicy(file.Path, file.Shown)
		if err != nil {
			return nil, err
		}
		if found.Declared() {
			return append(Rules{found.OfRepository()}, more...), nil
		}
	}
	return more, nil
}

func readPolicy(name, shown string) (*policy.Policy, error) {
	src, err := project.ReadRegular(name, policy.MaxSize)
	if err != nil {
		return nil, err
	}
	found, diags := policy.Parse(src, filepath.ToSlash(shown))
	if diags.HasErrors() {
		return nil, &policy.FileError{File: shown, Diagnostics: diags}
	}
	return found, nil
}
