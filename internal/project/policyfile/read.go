package policyfile

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/policy"
)

// Read reads the policies that apply to a root module: the nearest one in a cotter.hcl in dir or
// above it in the same git repository, of which only the restrictions count, those in files, and
// more. If one of the last two replaces the project's, that one is not read. An error about the
// content of a file is a *policy.FileError.
func Read(dir string, files []string, more []*policy.Policy) ([]*policy.Policy, error) {
	all := slices.DeleteFunc(slices.Clone(more), func(p *policy.Policy) bool { return p == nil })
	for _, file := range files {
		src, err := project.ReadRegular(file, policy.MaxSize)
		if err != nil {
			return nil, err
		}
		found, err := parseFile(src, file, policy.Parse)
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
			return append([]*policy.Policy{found.OfRepository()}, all...), nil
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
	switch {
	case len(files) > 0:
		return readFile(files[0], policy.ParseSettings)
	case fallback == "":
		return &policy.Settings{}, nil
	}
	src, err := project.ReadRegular(fallback, policy.MaxSize)
	if err != nil {
		return nil, err
	}
	return parseFile(src, fallback, policy.ParseSettings)
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

type parser[T any] func(src []byte, filename string) (*T, hcl.Diagnostics)

func readFile[T any](file project.FoundFile, parse parser[T]) (*T, error) {
	src, err := file.Read(policy.MaxSize)
	if refused, ok := errors.AsType[*config.FileReadError](err); ok {
		shown := filepath.ToSlash(file.Shown)
		return nil, &policy.FileError{File: file.Shown, Diagnostics: hcl.Diagnostics{{
			Severity: hcl.DiagError,
			Summary:  "File not allowed",
			Detail:   fmt.Sprintf("%s cannot be read: %s.", shown, refused.Reason),
			Subject:  &hcl.Range{Filename: shown, Start: hcl.InitialPos, End: hcl.InitialPos},
		}}}
	}
	if err != nil {
		return nil, err
	}
	return parseFile(src, file.Shown, parse)
}

func parseFile[T any](src []byte, shown string, parse parser[T]) (*T, error) {
	found, diags := parse(src, filepath.ToSlash(shown))
	if diags.HasErrors() {
		return nil, &policy.FileError{File: shown, Diagnostics: diags}
	}
	return found, nil
}
