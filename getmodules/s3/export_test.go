package s3

import "net/url"

// ParseAddress exports parseAddress. It returns the endpoint, region, bucket, key and
// version.
func ParseAddress(u *url.URL) ([5]string, error) {
	a, err := parseAddress(u)
	return [...]string{a.endpoint, a.region, a.bucket, a.key, a.version}, err
}
