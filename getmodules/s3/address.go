package s3

import (
	"errors"
	"net/url"
	"strings"

	"github.com/cotterpin/cotter/internal/objects"
)

// defaultRegion is the region of an address that does not name one.
const defaultRegion = "us-east-1"

var errAddress = errors.New("an address of S3 is https://s3-REGION.amazonaws.com/BUCKET/KEY, https://BUCKET.s3.REGION.amazonaws.com/KEY, or https://HOST/BUCKET/KEY of another server")

// address is a parsed S3 address.
type address struct {
	// endpoint is the scheme and host of a server that is not Amazon's. "" means Amazon, whose
	// server the SDK finds by the region.
	endpoint string
	region   string
	bucket   string
	// key is the key of an object, or of a directory with or without a trailing slash. "" means
	// the whole bucket.
	key string
	// version is a version of the object. "" means the latest version.
	version string
	login   login
}

// login has the credentials in an address.
type login struct {
	// static is set if the address has credentials, which are id, secret and token.
	static            bool
	id, secret, token string
	// profile is a profile of the shared configuration. It takes precedence over the
	// credentials.
	profile string
}

// domains are the domains of Amazon's servers, one or more for each partition: worldwide and US
// government, China, the European sovereign cloud, and the partitions that are closed to the
// public.
var domains = [...]string{
	".amazonaws.com", ".amazonaws.com.cn", ".amazonaws.eu", ".c2s.ic.gov", ".sc2s.sgov.gov", ".cloud.adc-e.uk", ".csp.hci.ic.gov",
}

func parseAddress(u *url.URL) (address, error) {
	if err := objects.CheckURL(u); err != nil {
		return address{}, err
	}
	if u.Fragment != "" {
		return address{}, errors.New("an S3 address cannot have a fragment; ?version= chooses a version of an object")
	}
	query := u.Query()
	a := address{version: query.Get("version"), login: parseLogin(query)}
	path := strings.TrimPrefix(u.Path, "/")
	for _, domain := range domains {
		if service, isAmazon := strings.CutSuffix(u.Host, domain); isAmazon {
			return a.atAmazon(strings.Split(service, "."), path)
		}
	}
	a.endpoint = u.Scheme + "://" + u.Host
	if a.region = query.Get("region"); a.region == "" {
		a.region = defaultRegion
	}
	return a.inPath(path)
}

// atAmazon parses the labels before Amazon's domain.
func (a address) atAmazon(labels []string, path string) (address, error) {
	var ok bool
	switch len(labels) {
	case 1: // s3.amazonaws.com/BUCKET/KEY, s3-REGION.amazonaws.com/BUCKET/KEY
		if a.region, ok = regionOf(labels[0]); !ok {
			return address{}, errAddress
		}
		return a.inPath(path)
	case 2: // s3.REGION.amazonaws.com/BUCKET/KEY, BUCKET.s3-REGION.amazonaws.com/KEY
		// No bucket can be called "s3": names have at least three letters.
		if labels[0] == "s3" {
			a.region = labels[1]
			return a.inPath(path)
		}
		if a.region, ok = regionOf(labels[1]); !ok || labels[1] == "s3" {
			return address{}, errAddress
		}
	case 3: // BUCKET.s3.REGION.amazonaws.com/KEY
		if _, ok = regionOf(labels[1]); !ok {
			return address{}, errAddress
		}
		a.region = labels[2]
	default:
		return address{}, errAddress
	}
	a.bucket, a.key = labels[0], path
	return a.checked()
}

// regionOf parses a label that names the service and may name a region.
func regionOf(label string) (string, bool) {
	if label == "s3" {
		return defaultRegion, true
	}
	region, ok := strings.CutPrefix(label, "s3-")
	return region, ok
}

func (a address) inPath(path string) (address, error) {
	a.bucket, a.key, _ = strings.Cut(path, "/")
	return a.checked()
}

func (a address) checked() (address, error) {
	if a.bucket == "" || a.region == "" {
		return address{}, errAddress
	}
	return a, nil
}

// parseLogin reads the arguments for credentials. If one of them is present, the missing ones
// are not taken from other sources.
func parseLogin(query url.Values) login {
	const id, secret, token = "aws_access_key_id", "aws_access_key_secret", "aws_access_token"
	return login{
		static:  query.Has(id) || query.Has(secret) || query.Has(token),
		id:      query.Get(id),
		secret:  query.Get(secret),
		token:   query.Get(token),
		profile: query.Get("aws_profile"),
	}
}
