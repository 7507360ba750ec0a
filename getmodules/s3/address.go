package s3

import (
	"errors"
	"net/url"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules/internal/objects"
)

var errAddress = errors.New("an address of S3 is https://s3-REGION.amazonaws.com/BUCKET/KEY, https://BUCKET.s3.REGION.amazonaws.com/KEY, or https://HOST/BUCKET/KEY of another server")

type address struct {
	// endpoint is the scheme and host of another server; "" means Amazon's, which the SDK finds by the
	// region.
	endpoint string
	region   string
	bucket   string
	// key is that of an object, or of a directory with or without a final slash; "" is the whole bucket.
	key string
	// version is that of the object; "" means the latest.
	version string
	login   login
}

// login has the credentials in an address.
type login struct {
	// static is set for credentials in the address: id, secret and token.
	static            bool
	id, secret, token string
	// profile is one of the shared configuration, and takes precedence.
	profile string
}

func parseAddress(at addrs.Location) (address, error) {
	u := at.URL()
	if err := objects.CheckURL(u); err != nil {
		return address{}, err
	}
	if u.Fragment != "" {
		return address{}, errors.New("an S3 address cannot have a fragment; ?version= chooses a version of an object")
	}
	query := u.Query()
	bucket := at.Bucket()
	if bucket.Name == "" {
		return address{}, errAddress
	}
	return address{
		endpoint: bucket.Endpoint, region: bucket.Region, bucket: bucket.Name, key: bucket.Key,
		version: query.Get("version"), login: parseLogin(query),
	}, nil
}

// parseLogin takes missing arguments from no other source if one is present.
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
