package s3

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/hostname"
)

// CredentialsError means that an address needs the user's own credentials at a server that neither
// the user nor Amazon's SDK has named. No request was sent, and no credentials were looked for.
type CredentialsError struct {
	// Endpoint is the scheme and host of the server, such as "https://minio.corp.example:9000".
	Endpoint string
}

func (e *CredentialsError) Error() string {
	return fmt.Sprintf("the user's AWS credentials are not sent to %q, because only the address names that server", e.Endpoint)
}

// errSpecialBucket is about names that the SDK turns into hosts of its own, below that of the
// endpoint.
var errSpecialBucket = errors.New("a directory bucket or an access point on Outposts exists only at Amazon")

// specialSuffixes end the names of such buckets.
var specialSuffixes = [...]string{"--x-s3", "--xa-s3", "--op-s3"}

// permit returns an error unless requests for the address may be sent with the account's
// credentials. Credentials in the address are for the server in the address. The user's own are
// for servers that the SDK derives from the region and the bucket, which speak https, and for
// those that the user named: in the SDK's configuration, or in Endpoints. A host below Amazon's
// domains is not enough, because many of them are machines of customers.
func (g *Getter) permit(account *account, addr address) error {
	if (addr.endpoint != "" || account.endpoint != "") && slices.ContainsFunc(specialSuffixes[:], func(suffix string) bool { return strings.HasSuffix(addr.bucket, suffix) }) {
		return errSpecialBucket
	}
	isNamed := func(endpoint string) bool { return originOf(endpoint) == originOf(addr.endpoint) }
	switch {
	case addr.endpoint == "", addr.login.isOwn():
		return nil
	case isNamed(account.endpoint), slices.ContainsFunc(g.Endpoints, isNamed):
		return nil
	}
	return &CredentialsError{Endpoint: addr.endpoint}
}

// isOwn reports whether the credentials are those in the address. A profile takes precedence over
// them, and belongs to the user.
func (l login) isOwn() bool { return l.static && l.profile == "" }

// origin is a server with the scheme by which it is asked.
type origin struct{ scheme, host, port string }

// originOf returns the origin of a URL; the zero origin if it has none. The host is in the form for
// comparisons.
func originOf(endpoint string) origin {
	u, err := url.Parse(endpoint)
	if err != nil || u.Hostname() == "" {
		return origin{}
	}
	usual := map[string]string{"https": "443", "http": "80"}
	return origin{u.Scheme, hostname.Canonical(u.Hostname()), cmp.Or(u.Port(), usual[u.Scheme])}
}
