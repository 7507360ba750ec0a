package objects

import (
	"errors"
	"net/url"
	"strings"
)

// CheckURL checks the parts that all addresses of object stores have in common.
func CheckURL(u *url.URL) error {
	switch {
	case u.Scheme != "https" && u.Scheme != "http", u.Host == "":
		return errors.New("the address needs https:// and a host after \"::\"")
	case u.User != nil:
		return errors.New("such an address cannot have a user name or a password")
	}
	return nil
}

// Prefix returns the prefix of the names of the objects in a directory. It ends in a slash,
// because "net-2/x" is not in "net".
func Prefix(dir string) string {
	if dir == "" || strings.HasSuffix(dir, "/") {
		return dir
	}
	return dir + "/"
}
