package s3

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/logging"

	"github.com/cotterpin/cotter/getmodules/internal/objects"
	"github.com/cotterpin/cotter/internal/net/httpx"
)

// account has the credentials and the region for requests.
type account struct {
	config aws.Config
	http   *httpx.Client
	// endpoint is what the SDK's configuration names for S3; "" if it names none.
	endpoint string
}

// accountKey has the region because roles are assumed in a region.
type accountKey struct {
	login  login
	region string
}

func (g *Getter) client(ctx context.Context, addr address) (*s3.Client, error) {
	account, err := g.account(ctx, addr)
	if err != nil {
		return nil, fmt.Errorf("the configuration of AWS cannot be used: %w", err)
	}
	if err := g.permit(account, addr); err != nil {
		return nil, err
	}
	// The SDK would do this on the first request, and hide the error.
	if _, err := account.config.Credentials.Retrieve(ctx); err != nil {
		return nil, errNoCredentials(ctx, err)
	}
	return s3.NewFromConfig(account.config, func(options *s3.Options) {
		options.HTTPClient = bounded{account.http, account.endpoint}
		// Other servers do not have a host name for each bucket.
		if addr.endpoint != "" {
			options.UsePathStyle = true
			options.BaseEndpoint = &addr.endpoint
		}
	}), nil
}

// account looks for an account only once.
func (g *Getter) account(ctx context.Context, addr address) (*account, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	key := accountKey{addr.login, addr.region}
	if known := g.accounts[key]; known != nil {
		return known, nil
	}
	loaded, err := config.LoadDefaultConfig(ctx, g.loadOptions(addr)...)
	if err != nil {
		return nil, err
	}
	if loaded.Region == "" {
		loaded.Region = addr.region
	}
	if loaded.Credentials == nil {
		return nil, errors.New("it has no credentials")
	}
	found := &account{
		config: loaded, http: g.httpClient(loaded.HTTPClient),
		endpoint: aws.ToString(s3.NewFromConfig(loaded).Options().BaseEndpoint),
	}
	if g.accounts == nil {
		g.accounts = map[accountKey]*account{}
	}
	g.accounts[key] = found
	return found, nil
}

// loadOptions lets the region of a profile take precedence over that of the address, as in stock tools.
func (g *Getter) loadOptions(addr address) []func(*config.LoadOptions) error {
	// The SDK would write messages to standard error.
	options := []func(*config.LoadOptions) error{config.WithLogger(logging.Nop{})}
	if addr.login.profile != "" {
		return append(options, config.WithSharedConfigProfile(addr.login.profile))
	}
	options = append(options, config.WithRegion(addr.region))
	switch {
	case addr.login.static:
		static := credentials.NewStaticCredentialsProvider(addr.login.id, addr.login.secret, addr.login.token)
		options = append(options, config.WithCredentialsProvider(static))
	case g.MetadataURL != "":
		options = append(options, config.WithCredentialsProvider(ec2rolecreds.New(func(o *ec2rolecreds.Options) {
			o.Client = imds.New(imds.Options{Endpoint: g.MetadataURL, ClientEnableState: imds.ClientEnabled})
		})))
	}
	return options
}

// httpClient uses the transport of the SDK's client if that has the user's ca_bundle, or g.HTTPClient is
// nil. It follows no redirects: a request is signed for one host, and another would see the token of the
// session.
func (g *Getter) httpClient(found aws.HTTPClient) *httpx.Client {
	buildable, ok := found.(*awshttp.BuildableClient)
	if !ok {
		buildable = awshttp.NewBuildableClient()
	}
	transport := buildable.GetTransport()
	if tls := transport.TLSClientConfig; g.HTTPClient != nil && (tls == nil || tls.RootCAs == nil) {
		return &httpx.Client{HTTP: g.HTTPClient, AttemptTimeout: g.HTTPClient.Timeout}
	}
	return &httpx.Client{HTTP: &http.Client{Transport: transport}}
}

// bounded limits lists and errors, which the SDK keeps in memory.
type bounded struct {
	*httpx.Client
	// endpoint is what the user has named in the SDK's configuration. Packages and servers may point to it
	// even on this machine.
	endpoint string
}

func (b bounded) Do(request *http.Request) (*http.Response, error) {
	ctx := httpx.WithNames(request.Context(), func(hostPort string) httpx.Naming {
		if u, err := url.Parse(b.endpoint); err == nil && u.Host != "" && httpx.HostPort(u) == hostPort {
			return httpx.NamedByUser
		}
		return httpx.NotNamed
	})
	answer, err := b.Send(request.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	if answer.StatusCode >= http.StatusMultipleChoices || request.URL.Query().Has("list-type") {
		answer.Body = http.MaxBytesReader(nil, answer.Body, objects.MaxList)
	}
	return answer.Response, nil
}
