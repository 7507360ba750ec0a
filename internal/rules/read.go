package rules

import (
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/internal/pathsafe"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/policy"
)

// Read reads the policies that apply to a root module: the nearest one in a cotter.hcl in dir or
// above it in the same git repository, of which only the restrictions count, those in files, and
// more. If one of the last two replaces the project's, that one is not read. An error about the
// content of a file is a *policy.FileError.
func Read(dir string, files []string, more []*policy.Policy) (Rules, error) {
	all := slices.DeleteFunc(Rules(slices.Clone(more)), func(p *policy.Policy) bool { return p == nil })
	for _, file := range files {
		found, err := readFile(project.FoundFile{Path: file, Shown: file}, policy.Parse)
		if err != nil {
			return nil, err
		}
		all = append(all, found)
	}
	if slices.ContainsFunc(all, func(p *policy.Policy) bool { return p.Only }) {
		return all, nil
	}
	ofProject, err := project.FilesAbove(dir, policy.FileName)
	if err != nil {
		return nil, err
	}
	for _, file := range ofProject {
		found, err := readFile(file, policy.ParseProject)
		if err != nil {
			return nil, err
		}
		if found.Declared() {
			return append(Rules{found.OfRepository()}, all...), nil
		}
	}
	return all, nil
}

// ReadSettings reads the settings that apply to a root module: those in the nearest cotter.hcl in dir
// or above it in the same git repository, or otherwise in the file fallback; "" means none. The
// errors are those of Read.
func ReadSettings(dir, fallback string) (*policy.Settings, error) {
	files, err := project.FilesAbove(dir, policy.FileName)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 && fallback != "" {
		files = []project.FoundFile{{Path: fallback, Shown: fallback}}
	}
	if len(files) == 0 {
		return &policy.Settings{}, nil
	}
	return readFile(files[0], policy.ParseSettings)
}

// ReadReplacements reads the replace blocks that apply to a root module: those in the nearest cotter.hcl
// with such blocks, in dir or above it in the same git repository. The errors are those of Read.
func ReadReplacements(dir string) (*policy.Replacements, error) {
	files, err := project.FilesAbove(dir, policy.FileName)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		found, err := readFile(file, policy.ParseReplacements)
		if err != nil {
			return nil, err
		}
		if found.IsZero() {
			continue
		}
		root, err := pathsafe.Real(dir)
		if err != nil {
			return nil, err
		}
		above, err := pathsafe.Real(filepath.Dir(file.Path))
		if err != nil {
			return nil, err
		}
		return found, found.InDir(root, above)
	}
	return nil, nil
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
