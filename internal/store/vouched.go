package store

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Vouch notes that claims of a lock were found to be true where they are about:
// that an address leads to a package, and the package has certain hashes. Of a
// claim, no more than a hash is written.
//
// The claims of one call are one file with many names, where the system has
// that: to make hundreds of files takes longer than to fetch some packages.
func (s Store) Vouch(claims ...string) error {
	if len(claims) == 0 {
		return nil
	}
	if err := os.MkdirAll(s.vouchers(), 0o700); err != nil {
		return err
	}
	first := ""
	for _, claim := range claims {
		name := s.voucher(claim)
		if first != "" {
			if err := os.Link(first, name); err == nil || errors.Is(err, fs.ErrExist) {
				continue
			}
		}
		file, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		if err := file.Close(); err != nil {
			return err
		}
		first = name
	}
	return nil
}

// Vouched reports whether a claim was noted by [Store.Vouch]. Nothing else in
// the store says so: that a tree is there is no proof of where it is from.
func (s Store) Vouched(claim string) bool {
	name := s.voucher(claim)
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	markUsed(name)
	return true
}

func (s Store) voucher(claim string) string {
	return filepath.Join(s.vouchers(), fmt.Sprintf("%x", sha256.Sum256([]byte(claim))))
}

func (s Store) vouchers() string { return filepath.Join(s.Dir, "vouched") }
