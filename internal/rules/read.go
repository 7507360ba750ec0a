package rules

import (
	"path/filepath"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/policy"
)

// Read reads the policy that applies to a root module. If file is not "", that is the policy in
// file. Otherwise it is the nearest policy in a cotter.hcl in dir or above it in the same git
// repository, and only its restrictions count. The policies in more apply as well. An error about
// the content of a file is a *policy.FileError.
func Read(dir, file string, more []*policy.Policy) (Rules, error) {
	if file != "" {
		found, err := readFile(project.FoundFile{Path: file, Shown: file}, policy.Parse)
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
		found, err := readFile(file, policy.Parse)
		if err != nil {
			return nil, err
		}
		if found.Declared() {
			return append(Rules{found.OfRepository()}, more...), nil
		}
	}
	return more, nil
}

// ReadSettings reads the settings that apply to a root module: those in the nearest cotter.hcl in dir
// or above it in the same git repository. Names of key files in the result are relative to the
// working directory. The errors are those of Read.
func ReadSettings(dir string) (*policy.Settings, error) {
	files, err := project.FilesAbove(dir, policy.FileName)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return &policy.Settings{}, nil
	}
	found, err := readFile(files[0], policy.ParseSettings)
	if err != nil {
		return nil, err
	}
	found.InDir(filepath.Dir(files[0].Path))
	return found, nil
}

func readFile[T any](file project.FoundFile, parse func(src []byte, filename string) (*T, hcl.Diagnostics)) (*T, error) {
	src, err := project.ReadRegular(file.Path, policy.MaxSize)
	if err != nil {
		return nil, err
	}
	found, diags := parse(src, filepath.ToSlash(file.Shown))
	if diags.HasErrors() {
		return nil, &policy.FileError{File: file.Shown, Diagnostics: diags}
	}
	return found, nil
}
