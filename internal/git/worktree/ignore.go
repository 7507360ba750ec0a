package worktree

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/index"

	"github.com/cotterpin/cotter/internal/disk/atomicfile"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/git/gitdir"
	"github.com/cotterpin/cotter/internal/git/gitexec"
	"github.com/cotterpin/cotter/internal/git/wildmatch"
	"github.com/cotterpin/cotter/internal/process/procgroup"
)

const gitignore = ".gitignore"

const (
	// maxIgnore bounds one file of patterns, in bytes.
	maxIgnore = 1 << 20
	// maxIgnoreSteps is for one question. Matching 1,000 patterns takes about 2,000.
	maxIgnoreSteps = 1 << 26
	// maxIndex is in bytes. An index with 80,000 files has about 8 MB. One that is made for it needs 100 MB in memory.
	maxIndex = 8 << 20
)

// In an index of version 4, a name is written as the difference to the one before it: a small file can have names
// that fill the memory.
const maxIndexVersion = 3

var (
	errOutside      = errors.New("the file is not in the checkout")
	errIgnoreSteps  = errors.New("the patterns of .gitignore files take too long to match")
	errIgnoreCase   = errors.New("whether git ignores the file depends on core.ignoreCase")
	errIgnoreHidden = errors.New("a .gitignore file is not checked out")
	errIndex        = errors.New("the index has a version that is not read")
)

// IgnoreRule is a line that makes git ignore a file.
type IgnoreRule struct {
	// File is relative to the directory of the question, with slashes. It is absolute if it is not in the checkout.
	File string
	Line int
}

// IgnoredLock returns the rule by which git ignores the lock of a directory. It returns nil if git does not, or tracks
// the lock nevertheless, or if there is no repository. An error means that it is not known. "git check-ignore" would
// run what the repository's configuration names, so git is asked only for core.excludesFile.
func IgnoredLock(ctx context.Context, dir, lockFile string) (*IgnoreRule, error) {
	tree, err := Open(&gitexec.Git{}, dir)
	if errors.Is(err, gitdir.ErrNoRepository) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return tree.Ignored(ctx, filepath.ToSlash(lockFile))
}

// Ignored is [IgnoredLock] for any file, by its path from Prefix.
func (w *Tree) Ignored(ctx context.Context, name string) (*IgnoreRule, error) {
	if name = path.Join(w.Prefix, name); !pathsafe.IsName(name) {
		return nil, errOutside
	}
	files, missing, err := w.ignoreFiles(ctx, name)
	if err != nil {
		return nil, err
	}
	rule, err := findIgnoreInAnyCase(files, name, false)
	if err != nil || rule == nil {
		return nil, err
	}
	tracked, err := w.tracks(name, missing)
	if err != nil || tracked {
		return nil, err
	}
	rule.File = w.fromPrefix(rule.File)
	return rule, nil
}

func (w *Tree) fromPrefix(file string) string {
	inTop, err := filepath.Rel(w.Top, file)
	if err != nil || !filepath.IsLocal(inTop) {
		return file
	}
	rel, err := filepath.Rel(filepath.FromSlash(w.Prefix), inTop)
	if err != nil {
		return file
	}
	return filepath.ToSlash(rel)
}

// findIgnoreInAnyCase returns an error if the configuration decides, which may say that case does not matter.
func findIgnoreInAnyCase(files []ignoreFile, name string, isDir bool) (*IgnoreRule, error) {
	rule, err := findIgnore(files, name, isDir)
	if err != nil || rule == nil {
		return nil, err
	}
	var lower []ignoreFile
	for _, file := range files {
		lower = append(lower, file.lower())
	}
	if other, err := findIgnore(lower, strings.ToLower(name), isDir); err != nil || other == nil {
		return nil, errors.Join(err, errIgnoreCase)
	}
	return rule, nil
}

// findIgnore looks from Top down, because git reads nothing in a directory that is ignored.
func findIgnore(files []ignoreFile, name string, isDir bool) (*IgnoreRule, error) {
	var work wildmatch.Matcher
	parts := strings.Split(name, "/")
	for n := 1; n <= len(parts); n++ {
		file, line := lastMatch(files, strings.Join(parts[:n], "/"), isDir || n < len(parts), &work)
		switch {
		case work.Steps > maxIgnoreSteps:
			return nil, errIgnoreSteps
		case file != nil && !line.negated:
			return &IgnoreRule{File: file.name, Line: line.number}, nil
		}
	}
	return nil, nil
}

// lastMatch returns nil if no pattern matches.
func lastMatch(files []ignoreFile, name string, isDir bool, work *wildmatch.Matcher) (*ignoreFile, ignoreLine) {
	for i := len(files) - 1; i >= 0; i-- {
		below, ok := files[i].below(name)
		if !ok {
			continue
		}
		for _, line := range slices.Backward(files[i].lines) {
			if work.Steps > maxIgnoreSteps {
				break
			}
			if (isDir || !line.dirOnly) && line.pattern.Matches(below, work) {
				return &files[i], line
			}
		}
	}
	return nil, ignoreLine{}
}

// ignoreFiles returns the files whose patterns count for a path. Later ones take precedence. missing are the paths from
// Top of those that do not exist.
func (w *Tree) ignoreFiles(ctx context.Context, name string) (files []ignoreFile, missing []string, err error) {
	if files, err = w.generalIgnores(ctx); err != nil {
		return nil, nil, err
	}
	own, missing, err := w.ownIgnores(name)
	return append(files, own...), missing, err
}

// ownIgnores are the files of ignoreFiles that are in the checkout.
func (w *Tree) ownIgnores(name string) (files []ignoreFile, missing []string, err error) {
	top, err := pathsafe.OpenRoot(w.Top)
	if err != nil {
		return nil, nil, err
	}
	defer top.Close()
	parts := strings.Split(name, "/")
	for n := range parts {
		dir := path.Join(parts[:n]...)
		file := path.Join(dir, gitignore)
		text, err := read(top, file, maxIgnore)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			missing = append(missing, file)
		case err != nil:
			return nil, nil, err
		default:
			files = append(files, parseIgnores(filepath.Join(w.Top, filepath.FromSlash(file)), dir, string(text)))
		}
	}
	return files, missing, nil
}

// generalIgnores are the user's own patterns, then those of the repository that are not committed, which take
// precedence.
func (w *Tree) generalIgnores(ctx context.Context) ([]ignoreFile, error) {
	own, err := w.excludesFile(ctx)
	if err != nil {
		return nil, err
	}
	var files []ignoreFile
	for _, name := range []string{own, filepath.Join(w.commonDir, "info", "exclude")} {
		if name == "" {
			continue
		}
		text, err := readThroughLinks(name)
		if atomicfile.IsAbsent(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		files = append(files, parseIgnores(name, "", string(text)))
	}
	return files, nil
}

// excludesFile returns the file of core.excludesFile; "" if the user has turned that off.
func (w *Tree) excludesFile(ctx context.Context) (string, error) {
	byDefault := "~/.config/git/ignore"
	if dir, ok := procgroup.Lookup(w.git.Environ(), "XDG_CONFIG_HOME"); ok {
		byDefault = filepath.Join(dir, "git", "ignore")
	}
	ask := w.command("config", "-z", "--type=path", "--default", byDefault, "--get", "core.excludesFile")
	ask.Network = &gitexec.Network{} // with the user's configuration
	out, err := w.git.Output(ctx, ask, maxLine)
	name := strings.TrimSuffix(string(out), "\x00")
	if err != nil || name == "" {
		return "", err
	}
	return pathsafe.Inside(w.Top, filepath.FromSlash(name)), nil
}

// readThroughLinks is for files that git does not take from the checkout. Like git, it follows links to them.
func readThroughLinks(name string) ([]byte, error) {
	name, err := pathsafe.Real(name)
	if err != nil {
		return nil, err
	}
	dir, err := pathsafe.OpenRoot(filepath.Dir(name))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return atomicfile.Read(dir, filepath.Base(name), maxIgnore)
}

// ignoreFile has patterns in the format of gitignore(5).
type ignoreFile struct {
	name string
	// dir is the path from Top of the directory for which the patterns are.
	dir   string
	lines []ignoreLine
}

type ignoreLine struct {
	number           int
	text             string
	pattern          wildmatch.Pattern
	negated, dirOnly bool
}

func parseIgnores(name, dir, content string) ignoreFile {
	file := ignoreFile{name: name, dir: dir}
	number := 0
	for text := range strings.SplitSeq(strings.TrimPrefix(content, "\ufeff"), "\n") {
		number++
		text, _, _ = strings.Cut(strings.TrimSuffix(text, "\r"), "\x00") // git treats a line as a C string
		if strings.HasPrefix(text, "#") {
			continue
		}
		line := ignoreLine{number: number}
		text, line.negated = strings.CutPrefix(withoutTrailingSpaces(text), "!")
		line.text, line.dirOnly = strings.CutSuffix(text, "/")
		if line.text != "" {
			line.pattern = wildmatch.Parse(line.text)
			file.lines = append(file.lines, line)
		}
	}
	return file
}

// withoutTrailingSpaces keeps spaces after a backslash, and all if the last character is a backslash that quotes nothing.
func withoutTrailingSpaces(text string) string {
	end := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case ' ':
			continue
		case '\\':
			if i++; i == len(text) {
				return text
			}
		}
		end = i + 1
	}
	return text[:end]
}

func (f ignoreFile) lower() ignoreFile {
	lower := ignoreFile{name: f.name, dir: strings.ToLower(f.dir)}
	for _, line := range f.lines {
		line.pattern = wildmatch.Parse(strings.ToLower(line.text))
		lower.lines = append(lower.lines, line)
	}
	return lower
}

// below returns the part of a path from Top to which the patterns apply.
func (f ignoreFile) below(name string) (string, bool) {
	if f.dir == "" {
		return name, true
	}
	return strings.CutPrefix(name, f.dir+"/")
}

// tracks reports whether the index has a file, in any case. missing are files from which git takes patterns even if
// a sparse checkout does not have them.
func (w *Tree) tracks(name string, missing []string) (bool, error) {
	entries, err := w.index()
	if err != nil {
		return false, err
	}
	for _, entry := range entries {
		if strings.EqualFold(entry.Name, name) {
			return true, nil
		}
		for _, absent := range missing {
			if entry.SkipWorktree && strings.EqualFold(entry.Name, absent) {
				return false, errIgnoreHidden
			}
		}
	}
	return false, nil
}

// index returns none if nothing was ever added.
func (w *Tree) index() ([]*index.Entry, error) {
	dir, err := pathsafe.OpenRoot(w.gitDir)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	content, err := atomicfile.Read(dir, "index", maxIndex)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return parseIndex(content)
}

// parseIndex returns an error for a split or sparse index, and for one of a repository with SHA-256.
func parseIndex(content []byte) ([]*index.Entry, error) {
	// After four bytes, the version has four more.
	if len(content) < 8 || !bytes.Equal(content[4:7], make([]byte, 3)) || content[7] > maxIndexVersion {
		return nil, errIndex
	}
	var found index.Index
	if err := index.NewDecoder(bytes.NewReader(content)).Decode(&found); err != nil {
		return nil, err
	}
	return found.Entries, nil
}
