package eval

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// maxPattern is in bytes: each entry of a directory may be compared with the whole pattern.
const maxPattern = 4 << 10

// fileSetFunction returns the function fileset of OpenTofu, whose patterns are those of doublestar 4. Terraform's are
// those of an older version, but it evaluates no sources.
func (m *Meter) fileSetFunction(files Files) function.Function {
	return function.New(&function.Spec{
		Params: textParameters("path", "pattern"),
		Type:   function.StaticReturnType(cty.Set(cty.String)),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			names, err := m.glob(files, args[0].AsString(), args[1].AsString())
			if err != nil {
				return cty.NilVal, err
			}
			if len(names) == 0 {
				return cty.SetValEmpty(cty.String), nil
			}
			values := make([]cty.Value, len(names))
			for i, name := range names {
				values[i] = cty.StringVal(name)
			}
			return cty.SetVal(values), nil
		},
	})
}

// glob returns the regular files that match a pattern, relative to a directory. As in OpenTofu, the name of the
// directory is part of the pattern.
func (m *Meter) glob(files Files, dir, pattern string) ([]string, error) {
	whole := path.Join(filepath.ToSlash(dir), pattern)
	if len(whole) > maxPattern {
		return nil, fmt.Errorf("the pattern has more than %d bytes", maxPattern)
	}
	if !doublestar.ValidatePattern(whole) {
		return nil, fmt.Errorf("%q: %w", pattern, doublestar.ErrBadPattern)
	}
	if !m.charge(alternatives(whole) * int64(len(whole))) {
		return nil, m.err
	}
	base, rest := doublestar.SplitPattern(whole)
	l := &listing{meter: m, files: files, base: base, patternBytes: int64(len(whole))}
	matches, err := doublestar.Glob(l, rest)
	if err := errors.Join(l.err, err); err != nil {
		return nil, err
	}
	var names []string
	for _, match := range matches {
		name, err := l.regular(match, dir)
		if err != nil {
			return nil, err
		}
		if name != "" {
			names = append(names, name)
		}
	}
	return names, nil
}

// alternatives returns an upper bound of the number of patterns that one with braces stands for.
func alternatives(pattern string) int64 {
	product := int64(1)
	for group := range strings.SplitSeq(pattern, "{") {
		if product *= int64(1 + strings.Count(group, ",")); product > maxWork {
			break
		}
	}
	return product
}

// listing is the file system that a pattern is compared with. Errors that doublestar passes over are kept, except
// for what does not exist: the result would differ from that of stock tools.
type listing struct {
	meter        *Meter
	files        Files
	base         string
	patternBytes int64
	err          error
}

// Open implements [fs.FS]. Files are listed and never opened.
func (l *listing) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: errors.ErrUnsupported}
}

func (l *listing) ReadDir(name string) ([]fs.DirEntry, error) {
	if !l.meter.charge(fileWork) {
		return nil, l.keep(l.meter.err)
	}
	entries, err := l.files.ReadDir(path.Join(l.base, name), int(l.meter.left/elementWeight))
	if err != nil {
		return nil, l.keep(err)
	}
	work := l.patternBytes * int64(len(entries))
	for _, entry := range entries {
		work += elementWeight + int64(len(entry.Name()))
	}
	if !l.meter.charge(work) {
		return nil, l.keep(l.meter.err)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

func (l *listing) Stat(name string) (fs.FileInfo, error) {
	if !l.meter.charge(fileWork) {
		return nil, l.keep(l.meter.err)
	}
	info, err := l.files.Stat(path.Join(l.base, name))
	return info, l.keep(err)
}

func (l *listing) keep(err error) error {
	if err != nil && l.err == nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		l.err = l.meter.noteRefusal(err)
	}
	return err
}

// regular returns the path of a match relative to a directory, or "" if it is not a regular file.
func (l *listing) regular(match, dir string) (string, error) {
	info, err := l.Stat(match)
	if err != nil || !info.Mode().IsRegular() {
		return "", err
	}
	name, err := filepath.Rel(filepath.FromSlash(dir), filepath.FromSlash(path.Join(l.base, match)))
	return filepath.ToSlash(name), err
}
