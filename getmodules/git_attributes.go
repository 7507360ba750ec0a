package getmodules

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"

	"github.com/cotterpin/cotter/internal/git/gitattr"
)

// maxConverted bounds a file whose content is converted, which happens in memory.
// Others are written as they are read.
const maxConverted = 64 << 20

// readAttributes reads the .gitattributes files among the blobs of a commit.
func (t *gitTree) readAttributes(blobs []gitEntry) error {
	var found []gitEntry
	var ids []string
	for _, e := range blobs {
		if path.Base(e.path) == gitattr.FileName && e.mode&gitModeKind == gitModeFile {
			found, ids = append(found, e), append(ids, e.id)
		}
	}
	if len(found) == 0 {
		return nil
	}
	files := map[string][]byte{}
	t.objects.ask(ids...)
	for _, e := range found {
		obj, err := t.objects.next("blob")
		if err != nil {
			return err
		}
		dir := path.Dir(e.path)
		if dir == "." {
			dir = ""
		}
		if files[dir], err = obj.bytes(gitattr.MaxFileBytes); err != nil {
			return fmt.Errorf("%q: %w", e.path, err)
		}
	}
	rules, err := gitattr.Parse(files)
	if errors.Is(err, gitattr.ErrTooLarge) {
		err = fmt.Errorf("%w: %w", ErrTooLarge, err)
	}
	t.rules = rules
	return err
}

// convert returns the content of a file as the commit's attributes want it.
func (t *gitTree) convert(e gitEntry, obj *gitObject) (io.Reader, error) {
	conversion, err := t.rules.Conversion(e.path)
	if errors.Is(err, gitattr.ErrTooLarge) {
		return nil, fmt.Errorf("%w: %w", ErrTooLarge, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%q: %w", e.path, err)
	}
	if conversion.IsNone() {
		return obj, nil
	}
	content, err := obj.bytes(min(t.maxFile, maxConverted))
	if err != nil {
		return nil, fmt.Errorf("%q: %w", e.path, err)
	}
	content, err = conversion.Apply(content, e.id)
	if errors.Is(err, gitattr.ErrEncoding) {
		t.unencoded = append(t.unencoded, e.path)
	}
	return bytes.NewReader(content), nil
}
