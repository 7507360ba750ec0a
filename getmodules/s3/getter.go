package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"os"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getmodules/internal/objects"
)

// Getter fetches from S3. The zero value is ready to use. It is safe for concurrent use, and keeps
// connections and credentials. After first use it must not be copied, and its fields must not change.
type Getter struct {
	// HTTPClient sends the requests to S3, but not those for credentials, and none if the SDK's
	// configuration has certificates (ca_bundle). nil means the SDK's own client. Its CheckRedirect is not
	// used.
	HTTPClient *http.Client
	// MetadataURL is the base URL of an instance's metadata service, such as http://127.0.0.1:8080, which
	// is queried for addresses without credentials, in place of the SDK's sources.
	MetadataURL string
	// Endpoints are servers other than Amazon's that may get the user's own credentials, as https://HOST or
	// http://HOST, possibly with a port. Those in the configuration of the SDK need no entry.
	Endpoints []string

	mu       sync.Mutex
	accounts map[accountKey]*account
}

var _ getmodules.Getter = (*Getter)(nil)

// Get implements [getmodules.Getter]. Errors wrap [io/fs.ErrNotExist], [io/fs.ErrPermission],
// [getmodules.ErrEmpty], [*CredentialsError] and errors of the SDK, or say what is wrong with the address.
func (g *Getter) Get(ctx context.Context, from getmodules.Download) (getmodules.Downloaded, error) {
	addr, err := parseAddress(from.Location)
	if err != nil {
		return getmodules.Downloaded{}, err
	}
	if err := addr.check(from.Archive); err != nil {
		return getmodules.Downloaded{}, err
	}
	ignored := ""
	if from.FromServer || from.FromPackage {
		ignored, addr.login.profile = addr.login.profile, ""
	}
	if err = g.fetch(ctx, addr, from); err != nil && ignored != "" {
		err = fmt.Errorf("%w; its argument aws_profile is ignored, because a server or a package wrote the address", err)
	}
	return getmodules.Downloaded{}, err
}

func (g *Getter) fetch(ctx context.Context, addr address, from getmodules.Download) error {
	client, err := g.client(ctx, addr)
	if err != nil {
		return err
	}
	return explain(objects.Fetch(ctx, &bucket{client, addr}, addr.key, from.Archive, from.Path))
}

func (a address) check(archive bool) error {
	switch {
	case archive && a.key == "":
		return errAddress
	case !archive && a.version != "":
		return errors.New("only the address of an archive can have a version")
	}
	return nil
}

type bucket struct {
	client *s3.Client
	addr   address
}

// List yields the objects with the prefix, page by page.
func (b *bucket) List(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		pages := s3.NewListObjectsV2Paginator(b.client, &s3.ListObjectsV2Input{Bucket: &b.addr.bucket, Prefix: &prefix})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				yield("", err)
				return
			}
			for _, object := range page.Contents {
				if !yield(aws.ToString(object.Key), nil) {
					return
				}
			}
		}
	}
}

// Get writes an object to a file. A shorter answer than announced is an error.
func (b *bucket) Get(ctx context.Context, key string, file *os.File) error {
	input := &s3.GetObjectInput{Bucket: &b.addr.bucket, Key: &key}
	if b.addr.version != "" {
		input.VersionId = &b.addr.version
	}
	object, err := b.client.GetObject(ctx, input)
	if err != nil {
		return err
	}
	defer object.Body.Close()
	_, err = io.Copy(file, object.Body)
	return err
}

// errNoCredentials is for the end of the SDK's search.
func errNoCredentials(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &NoCredentialsError{err}
}

// NoCredentialsError says that Amazon's SDK has found no credentials.
type NoCredentialsError struct{ Err error }

func (e *NoCredentialsError) Error() string { return fmt.Sprintf("no credentials for AWS: %v", e.Err) }

func (e *NoCredentialsError) Unwrap() error { return e.Err }

// explain adds the region of a bucket, and wraps fs.ErrNotExist or fs.ErrPermission if they apply.
func explain(err error) error {
	code, status, region := codesOf(err)
	switch {
	case slices.Contains([]string{"NoSuchKey", "NoSuchBucket", "NoSuchVersion"}, code):
		status = http.StatusNotFound
	case region != "" && slices.Contains([]int{http.StatusMovedPermanently, http.StatusTemporaryRedirect, http.StatusBadRequest}, status):
		return fmt.Errorf("%w; the bucket is in the region %q, which its address must name", err, region)
	}
	return objects.Explain(err, status)
}

// codesOf returns the code of an S3 error, the status, and the bucket's region according to the server, as
// far as known.
func codesOf(err error) (code string, status int, region string) {
	if coded, ok := errors.AsType[interface {
		error
		ErrorCode() string
	}](err); ok {
		code = coded.ErrorCode()
	}
	if answer, ok := errors.AsType[*smithyhttp.ResponseError](err); ok {
		status = answer.HTTPStatusCode()
		region = answer.Response.Header.Get("X-Amz-Bucket-Region")
	}
	return code, status, region
}
