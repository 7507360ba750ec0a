package objects

import (
	"errors"
	"net/url"
	"strings"
)

// CheckURL checks what all addresses of objects have in common.
func CheckURL(u *url.URL) error {
	switch {
	case u.Scheme != "https" && u.Scheme != "http", u.Host == "":
		return errors.New("the address needs https:// and a host behind the \"::\"")
	case u.User != nil:
		return errors.New("there is no user name or password in such addresses")
	}
	return nil
}

// Prefix is what the names of the objects in a directory begin with. The slash
// keeps out what only begins alike: "net-2/x" is not in "net".
func Prefix(dir string) string {
	if dir == "" || strings.HasSuffix(dir, "/") {
		return dir
	}
	return dir + "/"
}
