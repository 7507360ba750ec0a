package getmodules

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"

	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/git/gitattr"
)

// maxConverted bounds the size of a file that is converted, because conversion happens in
// memory. Other files are written while they are read.
const maxConverted = 64 << 20

// readAttributes reads the .gitattributes files among the blobs of a commit.
func (t *gitTree) readAttributes(blobs []git.Entry) error {
	var found []git.Entry
	for _, e := range blobs {
		if path.Base(e.Path) == gitattr.FileName && e.Kind == git.File {
			found = append(found, e)
		}
	}
	if len(found) == 0 {
		return nil
	}
	files := map[string][]byte{}
	at := 0
	for obj, err := range t.objects.Read(git.KindBlob, idsOf(found)) {
		if err != nil {
			return err
		}
		e := found[at]
		at++
		dir := path.Dir(e.Path)
		if dir == "." {
			dir = ""
		}
		if files[dir], err = obj.Bytes(gitattr.MaxFileBytes); err != nil {
			return fmt.Errorf("%q: %w", e.Path, err)
		}
	}
	rules, err := gitattr.Parse(files)
	if errors.Is(err, gitattr.ErrTooLarge) {
		err = fmt.Errorf("%w: %w", ErrTooLarge, err)
	}
	t.rules = rules
	return err
}

// convert returns the content of a file after the conversions of the commit's attributes.
func (t *gitTree) convert(e git.Entry, obj *git.Object) (io.Reader, error) {
	conversion, err := t.rules.Conversion(e.Path)
	if errors.Is(err, gitattr.ErrTooLarge) {
		return nil, fmt.Errorf("%w: %w", ErrTooLarge, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%q: %w", e.Path, err)
	}
	if conversion.IsNone() {
		return obj, nil
	}
	content, err := obj.Bytes(min(t.maxFile, maxConverted))
	if err != nil {
		return nil, fmt.Errorf("%q: %w", e.Path, err)
	}
	content, err = conversion.Apply(content, e.ID)
	if errors.Is(err, gitattr.ErrEncoding) {
		t.unencoded = append(t.unencoded, e.Path)
	}
	return bytes.NewReader(content), nil
}
