package pkgcache

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/cotterpin/cotter/internal/dirstore"
	"github.com/cotterpin/cotter/internal/step"
	"github.com/cotterpin/cotter/internal/userkey"
)

// Confirm stores records of evidence for the entries of locks; see package evidence. The file name
// of a record is a message authentication code made with the user's key, so only this user's
// processes can create it. The content is the time, which is only shown.
//
// If the system supports hard links, the records of one call are links to one file, because
// creating hundreds of files takes longer than fetching some packages.
func (c *Cache) Confirm(records ...string) error {
	first := ""
	for _, record := range records {
		name := c.confirmation(record)
		err := step.Do("cache.confirm.create", func() error {
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

// Confirmed reports whether a record was stored by [Cache.Confirm], and when.
func (c *Cache) Confirmed(record string) (since time.Time, ok bool) {
	if since, ok = Confirmed(c.dir, c.key, record); ok {
		dirstore.MarkUsed(c.confirmation(record))
	}
	return since, ok
}

// Confirmed is like [Cache.Confirmed] for the cache at dir, but only reads it.
func Confirmed(dir string, key *userkey.Key, record string) (since time.Time, ok bool) {
	name := confirmation(dir, key, record)
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() || info.Size() > int64(len(time.RFC3339)) {
		return time.Time{}, false
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return time.Time{}, false
	}
	since, _ = time.Parse(time.RFC3339, string(text)) // zero if it was killed before it wrote
	return since, true
}

func (c *Cache) confirmation(record string) string { return confirmation(c.dir, c.key, record) }

func confirmation(dir string, key *userkey.Key, record string) string {
	return filepath.Join(dir, confirmedName, key.Name("confirmation", record))
}
