package gogetter

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"slices"

	"cloud.google.com/go/storage"
)

// explain says what to do about an error of an SDK, where that is known, and
// makes fs.ErrNotExist and fs.ErrPermission of what means these.
func explain(err error) error {
	code, status := codesOf(err)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, storage.ErrObjectNotExist), errors.Is(err, storage.ErrBucketNotExist),
		status == http.StatusNotFound, slices.Contains([]string{"NoSuchKey", "NoSuchBucket", "NoSuchVersion"}, code):
		return fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return fmt.Errorf("%w: %w; check the credentials that are used, and what they allow", fs.ErrPermission, err)
	}
	return err
}

// codesOf finds the code of an S3 error and the status of the answer. AWS has
// methods for them, Google's clients have another one; 0 and "" are unknown.
func codesOf(err error) (code string, status int) {
	var s3 interface{ ErrorCode() string }
	if errors.As(err, &s3) {
		code = s3.ErrorCode()
	}
	var aws interface{ HTTPStatusCode() int }
	var google interface{ HTTPCode() int }
	switch {
	case errors.As(err, &aws):
		status = aws.HTTPStatusCode()
	case errors.As(err, &google):
		status = google.HTTPCode()
	}
	return code, status
}
