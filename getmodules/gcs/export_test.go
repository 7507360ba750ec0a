package gcs

import "net/url"

// ParseAddress exports parseAddress.
func ParseAddress(u *url.URL) (bucket, object, generation string, err error) {
	a, err := parseAddress(u)
	return a.bucket, a.object, a.generation, err
}
