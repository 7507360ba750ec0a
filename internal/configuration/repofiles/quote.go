package repofiles

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/installer/config"
)

// quotable are the suffixes of files whose lines may be shown, without those with values or tokens. They are
// those of the file itself, and not of a link to it.
var quotable = []string{".tf", ".tofu", ".hcl", ".tf.json", ".tofu.json"}

// OpenQuotable opens a file of which a message may quote lines. The name is absolute, or relative to the root
// module. The name of the opened file has no links. Errors are those of Open; a file with another suffix is a
// [*config.FileReadError] too.
func (d *Dir) OpenQuotable(name string) (*os.File, error) {
	f, _, err := d.openShown(name)
	if err != nil || isQuotable(f) {
		return f, err
	}
	_ = f.Close() // nothing was written
	return nil, &config.FileReadError{Path: name, Allowed: d.path, Reason: "the name of the file itself does not end like that of a configuration file"}
}

// MayRepeat reports whether a message may have words from a file, such as the name of an argument. The words
// of a file of the repository may be repeated, unless a link gives it another suffix.
func (d *Dir) MayRepeat(name string) bool {
	f, links, err := d.openShown(name)
	if err != nil {
		return false
	}
	defer f.Close()
	const values = ".tfvars"
	return links == 0 || isQuotable(f) || strings.HasSuffix(name, values) && strings.HasSuffix(f.Name(), values)
}

// isQuotable takes a file that was opened one directory after another, so that its name has no links.
func isQuotable(f *os.File) bool {
	return slices.ContainsFunc(quotable, func(suffix string) bool { return strings.HasSuffix(f.Name(), suffix) })
}

// regular closes what is not a regular file.
func regular(f *os.File, err error) (*os.File, error) {
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = ErrNotRegular
	}
	if err != nil {
		_ = f.Close() // nothing was written
		return nil, err
	}
	return f, nil
}

// openShown opens a regular file that Open opens. If the root module is in no repository that counts, it also opens
// the files of directories beside the root module, such as ../modules, but follows no links to them, looks
// into no hidden directories, and does not leave a repository that only reading must not use, such as one of
// the home directory.
func (d *Dir) openShown(name string) (f *os.File, links int, err error) {
	f, links, err = d.open(name, true)
	if f, err = regular(f, err); err == nil || d.counts || d.none {
		return f, links, err
	}
	file := filepath.FromSlash(name)
	if !filepath.IsAbs(file) {
		file = filepath.Join(d.root, file)
	}
	w := &walk{dir: d, name: name, noDotFiles: true, noLinks: true, locks: true}
	for common := d.root; ; common = filepath.Dir(common) {
		if _, inside := below(d.repository, common); d.repository != "" && !inside {
			break
		}
		if rel, inside := below(common, file); inside {
			f, err = regular(w.from(common, rel))
			return f, 0, err
		}
		if common == filepath.Dir(common) {
			break
		}
	}
	return nil, 0, w.outside()
}
