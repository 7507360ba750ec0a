package addrs

import (
	"errors"
	"net/url"
	"strings"
)

// detectS3 recognizes any text that contains ".amazonaws.com/", and converts it to a
// path-style URL. Like stock tools, it only counts the labels of the host. So it reads the
// regional host s3.REGION.amazonaws.com as a bucket named "s3".
func detectS3(src string) (string, bool, error) {
	if !strings.Contains(src, ".amazonaws.com/") {
		return "", false, nil
	}
	host, key, _ := strings.Cut(src, "/")
	var endpoint, bucket string
	switch labels := strings.Split(host, "."); {
	case len(labels) == 3: // ENDPOINT.amazonaws.com/BUCKET/KEY
		endpoint = labels[0]
	case len(labels) == 4: // BUCKET.ENDPOINT.amazonaws.com/KEY
		endpoint, bucket = labels[1], labels[0]+"/"
	case len(labels) == 5 && labels[1] == "s3": // BUCKET.s3.REGION.amazonaws.com/KEY
		endpoint, bucket = "s3."+labels[2], labels[0]+"/"
	default:
		return "", false, errors.New("an S3 address has the form BUCKET.s3.REGION.amazonaws.com/KEY")
	}
	u, err := url.Parse("https://" + endpoint + ".amazonaws.com/" + bucket + key)
	if err != nil {
		return "", false, errors.New("the URL of the S3 address is malformed")
	}
	return "s3::" + u.String(), true, nil
}
