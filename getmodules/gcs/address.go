package gcs

import (
	"errors"
	"net/url"
	"strings"

	"github.com/cotterpin/cotter/internal/objects"
)

// address is a parsed gcs address.
type address struct {
	bucket string
	// object is the name of an object, or of a directory with or without a trailing slash. ""
	// means the whole bucket.
	object string
	// generation is the number of a generation of the object. "" means the latest generation.
	generation string
}

// parseAddress parses https://www.googleapis.com/storage/v1/BUCKET/OBJECT. Like the stock
// tools, it accepts any host below googleapis.com, and any text in place of "storage" and "v1".
// No request is sent to that host.
func parseAddress(u *url.URL) (address, error) {
	if err := objects.CheckURL(u); err != nil {
		return address{}, err
	}
	if strings.Trim(u.Fragment, "0123456789") != "" {
		return address{}, errors.New("the fragment of a gcs address is the generation of an object, a number")
	}
	service, isGoogle := strings.CutSuffix(u.Host, ".googleapis.com")
	parts := strings.SplitN(u.Path, "/", 5)
	if !isGoogle || service == "" || strings.Contains(service, ".") || len(parts) < 4 {
		return address{}, errAddress
	}
	a := address{bucket: parts[3], generation: u.Fragment}
	if len(parts) == 5 {
		a.object = parts[4]
	}
	// "." and ".." have a meaning in URLs, and cannot be names of buckets and objects.
	if a.bucket == "" || isDots(a.bucket) || isDots(a.object) {
		return address{}, errAddress
	}
	return a, nil
}

var errAddress = errors.New("an address of Google Cloud Storage is https://www.googleapis.com/storage/v1/BUCKET/OBJECT")

func isDots(name string) bool { return name == "." || name == ".." }

// check returns an error if the address does not fit an archive, or a directory.
func (a address) check(archive bool) error {
	switch {
	case archive && a.object == "":
		return errAddress
	case !archive && a.generation != "":
		return errors.New("only the address of an archive can have a generation")
	}
	return nil
}
