package gcs

import "github.com/cotterpin/cotter/addrs"

// ParseAddress exports parseAddress.
func ParseAddress(at addrs.Location) (bucket, object, generation string, err error) {
	a, err := parseAddress(at)
	return a.bucket, a.object, a.generation, err
}
