package addrs

import (
	"errors"
	"net/url"
	"strings"
)

// detectS3 recognises any text that contains ".amazonaws.com/", and turns it into a
// path-style URL. It only counts the labels of the host. So it takes the regional host
// s3.REGION.amazonaws.com for a bucket named "s3", like the stock tools.
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
