package store

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
)

// Vouch notes that a claim of a lock was found to be true where it is about:
// that an address leads to a package, and the package has certain hashes. Of
// the claim, no more than a hash is written.
func (s Store) Vouch(claim string) error {
	name := s.voucher(claim)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return file.Close()
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
