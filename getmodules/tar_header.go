package getmodules

import (
	"archive/tar"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// checkTarHeader refuses what tar programs read in different ways, as far as
// archive/tar lets it through.
func checkTarHeader(header *tar.Header) error {
	if header.Typeflag == tar.TypeXGlobalHeader {
		return checkGlobal(header.PAXRecords)
	}
	// Some skip as many bytes, others none.
	if header.Typeflag != tar.TypeReg && header.Size != 0 {
		return errors.New("it is not a file and has a size")
	}
	for key, value := range header.PAXRecords {
		if err := checkPAX(key, value); err != nil {
			return err
		}
	}
	// A GNU header for long names may say something else than the record.
	if name, ok := header.PAXRecords["path"]; ok && name != header.Name {
		return errors.New("it has two names")
	}
	if target, ok := header.PAXRecords["linkpath"]; ok && target != header.Linkname {
		return errors.New("it has two link targets")
	}
	return nil
}

// checkPAX allows the records of POSIX.1-2017 pax, but not size: sizes within
// the limits fit into the ordinary header, and two of them may differ. Vendors'
// records (VENDOR.keyword), for access control lists and the like, mean
// nothing here, except that GNU's change what a file holds.
func checkPAX(key, value string) error {
	plain := []string{"path", "linkpath", "uid", "gid", "uname", "gname", "mtime", "atime", "ctime", "comment", "charset"}
	switch {
	case strings.HasPrefix(key, "GNU."):
		return fmt.Errorf("the extended header %q, as of sparse files, is not supported", key)
	case strings.Contains(key, "."), slices.Contains(plain, key):
		return nil
	case key == "hdrcharset" && value == "ISO-IR 10646 2000 UTF-8":
		return nil
	}
	return fmt.Errorf("the extended header %q is not supported", key)
}

// checkGlobal allows a global header what cannot change an entry's content or
// name: archive/tar ignores it, and others do not.
func checkGlobal(records map[string]string) error {
	for key, value := range records {
		if key == "path" || key == "linkpath" {
			return fmt.Errorf("a global header must not hold %q", key)
		}
		if err := checkPAX(key, value); err != nil {
			return err
		}
	}
	return nil
}
