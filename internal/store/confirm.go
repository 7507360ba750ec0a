package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/cotterpin/cotter/internal/disk/atomicfile"
)

const confirmedName = "confirmed"

// Confirm stores records of evidence for lock entries (package evidence). The name of a file is a code made
// with the user's key, so only this user's processes can create it; the content is the time, which is only
// shown. If possible, the records of one call are hard links to one file: creating hundreds takes longer
// than fetching some packages.
func (m *Modules) Confirm(records ...string) error {
	first := ""
	for _, record := range records {
		name := m.confirmation(record)
		err := atomicfile.Step("cache.confirm.create", func() error {
			if first != "" {
				if err := os.Link(first, name); err == nil || errors.Is(err, fs.ErrExist) {
					return nil
				}
			}
			file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
			if errors.Is(err, fs.ErrExist) {
				return nil
			}
			if err != nil {
				return err
			}
			first = name
			_, err = file.WriteString(time.Now().UTC().Format(time.RFC3339))
			return errors.Join(err, file.Close())
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Confirmed reports whether and when a record was stored.
func (m *Modules) Confirmed(record string) (since time.Time, ok bool) {
	if m.dir == "" {
		return time.Time{}, false
	}
	name := m.confirmation(record)
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() || info.Size() > int64(len(time.RFC3339)) {
		return time.Time{}, false
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return time.Time{}, false
	}
	if m.writable {
		markUsed(name)
	}
	since, _ = time.Parse(time.RFC3339, string(text)) // zero if it was killed before it wrote
	return since, true
}

func (m *Modules) confirmation(record string) string {
	return filepath.Join(m.dir, confirmedName, m.key.Name("confirmation", record))
}
