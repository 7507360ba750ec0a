package pkgcache

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cotterpin/cotter/internal/dirstore"
	"github.com/cotterpin/cotter/internal/step"
	"github.com/cotterpin/cotter/internal/userkey"
)

// Confirm stores records of a lock that an origin has confirmed: that an address resolves to a
// package, and that the package has certain hashes. The file name of a record is a message
// authentication code made with the user's key, so only this user's processes can create it.
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
			return file.Close()
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Confirmed reports whether a record was stored by [Cache.Confirm].
func (c *Cache) Confirmed(record string) bool {
	if !IsConfirmed(c.dir, c.key, record) {
		return false
	}
	dirstore.MarkUsed(c.confirmation(record))
	return true
}

// IsConfirmed is like [Cache.Confirmed] for the cache at dir, but only reads it.
func IsConfirmed(dir string, key *userkey.Key, record string) bool {
	info, err := os.Lstat(confirmation(dir, key, record))
	return err == nil && info.Mode().IsRegular()
}

func (c *Cache) confirmation(record string) string { return confirmation(c.dir, c.key, record) }

func confirmation(dir string, key *userkey.Key, record string) string {
	return filepath.Join(dir, confirmedName, key.Name("confirmation", record))
}
