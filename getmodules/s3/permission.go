package s3

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/net/hostname"
)

// CredentialsError means that an address needs the user's own credentials at a server that neither the user
// nor Amazon's SDK has named. No request was sent, and no credentials were looked for.
type CredentialsError struct {
	// Endpoint is such as "https://minio.corp.example:9000".
	Endpoint string
}

func (e *CredentialsError) Error() string {
	return fmt.Sprintf("the user's AWS credentials are not sent to %q, because only the address names that server", e.Endpoint)
}

// errSpecialBucket is about names that the SDK turns into hosts below that of the endpoint.
var errSpecialBucket = errors.New("a directory bucket or an access point on Outposts exists only at Amazon")

var specialSuffixes = [...]string{"--x-s3", "--xa-s3", "--op-s3"}

// permit refuses the user's own credentials for servers that neither the SDK derives from region and bucket
// (by https) nor the user named, in the SDK's configuration or in Endpoints. A host below Amazon's domains
// is not enough: many are machines of customers.
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

// isOwn reports whether the credentials are those in the address; a profile belongs to the user.
func (l login) isOwn() bool { return l.static && l.profile == "" }

type origin struct{ scheme, host, port string }

// originOf returns the origin of a URL, with the host in the form for comparisons; zero if it has none.
func originOf(endpoint string) origin {
	u, err := url.Parse(endpoint)
	if err != nil || u.Hostname() == "" {
		return origin{}
	}
	usual := map[string]string{"https": "443", "http": "80"}
	return origin{u.Scheme, hostname.Canonical(u.Hostname()), cmp.Or(u.Port(), usual[u.Scheme])}
}

// Login describes the credentials that requests for an address would have, and the server that would get
// them, such as "from the environment, for Amazon". It sends no request and starts no program, and the text
// has no secrets. The error is a [*CredentialsError] if there would be no request.
func (g *Getter) Login(ctx context.Context, at addrs.Location) (string, error) {
	addr, err := parseAddress(at)
	if err != nil {
		return "", err
	}
	account, err := g.account(ctx, addr)
	if err != nil {
		return "", err
	}
	if err := g.permit(account, addr); err != nil {
		return "", err
	}
	from := "from the configuration of AWS"
	if found, ok := account.config.Credentials.(aws.CredentialProviderSource); ok {
		sources := found.ProviderSources()
		switch {
		case addr.login.isOwn():
			from = "from the address"
		case slices.Contains(sources, aws.CredentialSourceEnvVars):
			from = "from the environment"
		case slices.Contains(sources, aws.CredentialSourceIMDS):
			from = "of the instance's role, if it has one"
		}
	}
	return from + ", for " + cmp.Or(addr.endpoint, account.endpoint, "Amazon"), nil
}
