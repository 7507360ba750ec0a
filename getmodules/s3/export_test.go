package s3

import "github.com/cotterpin/cotter/addrs"

// ParseAddress exports parseAddress. It returns the endpoint, region, bucket, key and
// version.
func ParseAddress(at addrs.Location) ([5]string, error) {
	a, err := parseAddress(at)
	return [...]string{a.endpoint, a.region, a.bucket, a.key, a.version}, err
}
