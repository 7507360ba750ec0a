package addrs

import (
	"errors"
	"net/url"
	"strings"
)

// detectGCS recognizes any text that contains ".googleapis.com/", and parses it as
// HOST/storage/VERSION/BUCKET/OBJECT. It ignores the first two parts.
func detectGCS(src string) (string, bool, error) {
	if !strings.Contains(src, ".googleapis.com/") {
		return "", false, nil
	}
	parts := strings.SplitN(src, "/", 5)
	if len(parts) < 5 {
		return "", false, errors.New("an address of Google Cloud Storage has the form www.googleapis.com/storage/v1/BUCKET/OBJECT")
	}
	u, err := url.Parse("https://www.googleapis.com/storage/" + strings.Join(parts[2:], "/"))
	if err != nil {
		return "", false, errors.New("the URL of the address in Google Cloud Storage is malformed")
	}
	return "gcs::" + u.String(), true, nil
}
