package configread

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/configuration/repofiles"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
)

type file struct {
	name     string
	json     bool
	tofu     bool
	override bool
}

// IsConfigFile reports whether stock tools of either dialect read a file with this name in a module.
func IsConfigFile(name string) bool {
	_, ok := parseName(name)
	return ok
}

// No name ends in two of these, so their order does not matter.
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
// if dir.Tests is set, no tests. It parses nothing.
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

func namesIn(dir Dir) ([]string, error) {
	return openDirectory(dir).names()
}

// eachFile calls use for each file that the dialect reads, in the order in which overrides apply, until
// use returns an error or ctx ends.
func (r Reader) eachFile(ctx context.Context, dir Dir, use func(*directory, file) error) error {
	d := openDirectory(dir)
	names, err := d.names()
	if err != nil {
		return err
	}
	for _, f := range r.selectFiles(names) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := use(d, f); err != nil {
			return err
		}
	}
	return nil
}

// selectFiles returns the files to read: first the ordinary files, then the override files, each sorted.
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

// skips reports whether the dialect does not read a file. Terraform ignores .tofu files. In tofu they
// replace the .tf files of the same name.
func (r Reader) skips(f file, names []string) bool {
	if terraform := r.Terraform || r.TerraformFiles; terraform || f.tofu {
		return terraform && f.tofu
	}
	_, found := slices.BinarySearch(names, f.twin())
	return found
}

// twin returns the .tofu file that replaces a .tf file.
func (f file) twin() string {
	if f.json {
		return strings.TrimSuffix(f.name, ".tf.json") + ".tofu.json"
	}
	return strings.TrimSuffix(f.name, ".tf") + ".tofu"
}

// Forms says that stock tools read different files in a directory.
type Forms struct {
	// Names are the files in two forms, such as main.tf and main.tofu, and the override files that only
	// OpenTofu reads. Files of OpenTofu that only add to the others are not among them.
	Names []string
}

// FormsIn returns nil if both stock tools read the same files.
func FormsIn(dir Dir) (*Forms, error) {
	names, err := namesIn(dir)
	if err != nil {
		return nil, err
	}
	var found Forms
	hasTofu := false
	for _, name := range names {
		f, ok := parseName(name)
		if !ok {
			continue
		}
		hasTofu = hasTofu || f.tofu
		if _, twin := slices.BinarySearch(names, f.twin()); twin && !f.tofu {
			found.Names = append(found.Names, name, f.twin())
		} else if f.tofu && f.override {
			found.Names = append(found.Names, name)
		}
	}
	if !hasTofu {
		return nil, nil
	}
	return &found, nil
}

const (
	// maxFileBytes limits one file of a package. People write much less.
	maxFileBytes = 4 << 20
	// maxDirBytes limits all files of a directory together, because a package may have many directories.
	maxDirBytes = 64 << 20
	// maxOwnFile and maxOwnDir are the same for the user's own modules, for which programs such as cdktf write files
	// with thousands of resources. What is parsed of them is limited by package hcldepth.
	maxOwnFile = 32 << 20
	maxOwnDir  = 256 << 20
)

// sizeError is in bytes.
type sizeError struct {
	limit int64
	dir   bool // the limit is of all files of a directory
}

func (e *sizeError) Error() string {
	limit := fmt.Sprintf("%d MiB", e.limit>>20)
	if e.limit < 1<<20 {
		limit = fmt.Sprintf("%d KiB", e.limit>>10)
	}
	if e.dir {
		return fmt.Sprintf("the configuration files of this directory have more than %s together", limit)
	}
	return "it is larger than " + limit
}

type directory struct {
	dir   Dir
	files fs.FS
	at    string // the directory in files
	// left is the number of bytes that may still be read, of maxDir in all files and of maxFile in one.
	left, maxDir, maxFile int64
	// constants reports whether a file that was read may have a variable with the argument const.
	constants bool
}

func openDirectory(dir Dir) *directory {
	if dir.inPackage() {
		return &directory{dir: dir, files: dir.Files, at: path.Clean(dir.Subdir), left: maxDirBytes, maxDir: maxDirBytes, maxFile: maxFileBytes}
	}
	return &directory{dir: dir, files: pathsafe.DirFS(dir.Path), at: ".", left: maxOwnDir, maxDir: maxOwnDir, maxFile: maxOwnFile}
}

// names returns the sorted names of all entries except directories, which stock tools skip whatever
// their names.
func (d *directory) names() ([]string, error) {
	entries, err := fs.ReadDir(d.files, d.at)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, entry := range entries {
		if !entry.IsDir() {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}

func (d *directory) read(name string) ([]byte, error) {
	f, err := d.files.Open(path.Join(d.at, name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return d.readAll(f)
}

// readConfig returns what matters of a configuration file, in its place.
func (d *directory) readConfig(f file) ([]byte, error) {
	src, err := d.read(f.name)
	if err == nil && f.json && len(src) > reducedAbove {
		src = reduceJSON(src)
	}
	return src, err
}

// readAll accepts only regular files.
func (d *directory) readAll(f fs.File) ([]byte, error) {
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, repofiles.ErrNotRegular
	case info.Size() > d.maxFile:
		return nil, &sizeError{limit: d.maxFile}
	}
	src := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	// The file may grow while it is read.
	n, err := io.Copy(src, io.LimitReader(f, d.maxFile+1))
	if err != nil {
		return nil, err
	}
	if n > d.maxFile {
		return nil, &sizeError{limit: d.maxFile}
	}
	if d.left -= n; d.left < 0 {
		return nil, &sizeError{limit: d.maxDir, dir: true}
	}
	return src.Bytes(), nil
}

// display returns the name of a file in ranges.
func (d Dir) display(name string) string {
	dir := d.Display
	if dir == "" {
		dir = d.Path
	}
	return path.Join(filepath.ToSlash(dir), name)
}
