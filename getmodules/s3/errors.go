package s3

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"slices"

	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/objects"
)

// errNoCredentials returns the error for the case that the SDK finds no credentials. It
// contains advice.
func errNoCredentials(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("no credentials for AWS: %w; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or log in to a profile and name it in AWS_PROFILE or in the argument aws_profile", err)
}

// explain adds advice to errors of the SDK with a known cause, and wraps fs.ErrNotExist or
// fs.ErrPermission if they apply.
func explain(err error) error {
	code, status, region := codesOf(err)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, objects.ErrNone):
		return fmt.Errorf("%w: %w", getmodules.ErrEmpty, err)
	case status == http.StatusNotFound, slices.Contains([]string{"NoSuchKey", "NoSuchBucket", "NoSuchVersion"}, code):
		return fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return fmt.Errorf("%w: %w; check which credentials are used and what they allow", fs.ErrPermission, err)
	case region != "" && slices.Contains([]int{http.StatusMovedPermanently, http.StatusTemporaryRedirect, http.StatusBadRequest}, status):
		return fmt.Errorf("%w; the bucket is in the region %q, which its address must name", err, region)
	}
	return err
}

// codesOf returns the code of an S3 error, the status of the answer, and the region of the
// bucket according to the server. Values that are unknown are 0 or "".
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
