package pkgcache

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cotterpin/cotter/internal/step"
	"github.com/cotterpin/cotter/internal/userkey"
)

// Confirm notes claims of a lock that an origin has confirmed: that an address
// means a package, and that the package has certain hashes. The name of a note
// is a code under the user's key, so only this user's processes can make one.
//
// The notes of one call are one file with many names, if the system has links:
// to make hundreds of files takes longer than to fetch some packages.
func (c *Cache) Confirm(claims ...string) error {
	first := ""
	for _, claim := range claims {
		name := c.confirmation(claim)
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

// Confirmed reports whether a claim was noted by [Cache.Confirm].
func (c *Cache) Confirmed(claim string) bool {
	if !IsConfirmed(c.dir, c.key, claim) {
		return false
	}
	markUsed(c.confirmation(claim))
	return true
}

// IsConfirmed is [Cache.Confirmed] for the cache at dir, which it only reads.
func IsConfirmed(dir string, key *userkey.Key, claim string) bool {
	info, err := os.Lstat(confirmation(dir, key, claim))
	return err == nil && info.Mode().IsRegular()
}

func (c *Cache) confirmation(claim string) string { return confirmation(c.dir, c.key, claim) }

func confirmation(dir string, key *userkey.Key, claim string) string {
	return filepath.Join(dir, confirmedName, key.Name("confirmation", claim))
}
