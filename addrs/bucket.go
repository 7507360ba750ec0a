package addrs

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// Bucket is a place in an object store: Amazon S3, a server that speaks its protocol, or Google
// Cloud Storage. The same bucket has many URLs, which all have the same Service and Name.
type Bucket struct {
	// Service is the domain of the provider, such as "amazonaws.com", "amazonaws.com.cn" or
	// "googleapis.com", which has its own names of buckets; "" for other servers.
	Service string
	// Endpoint is the scheme and host of another server with the protocol of S3; "" for the providers'
	// own.
	Endpoint string
	Region   string
	// Name is "" if the location is that of the whole service.
	Name string
	// Key is the name of an object or a directory, with or without a final slash; "" is the whole bucket.
	Key string
}

// place is a bucket; the elements of the location's path from keyAt on belong to its key.
type place struct {
	Bucket
	keyAt int
}

// Bucket returns the bucket of the location; the zero Bucket if it is not known to belong to one.
func (l Location) Bucket() Bucket { return l.in.Bucket }

// KeyElements returns the elements of the location's path that belong to the key of its bucket.
func (l Location) KeyElements() []string { return l.Path()[min(l.in.keyAt, len(l.path)):] }

// The addresses of Amazon S3 that are documented, with and without a region, are
//
//	s3.REGION.amazonaws.com/BUCKET/KEY    BUCKET.s3.REGION.amazonaws.com/KEY
//	s3-REGION.amazonaws.com/BUCKET/KEY    BUCKET.s3-REGION.amazonaws.com/KEY
//
// and the same with "dualstack" before the region.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/VirtualHosting.html

// defaultRegion is the region of an s3 address that does not name one.
const defaultRegion = "us-east-1"

// amazonDomains are the domains of Amazon's servers, with the names of their regions: China, the
// European sovereign cloud, the partitions that are closed to the public, and the rest of the world.
// Amazon's SDK finds the domain by the region, so an address must not have another one.
var amazonDomains = [...]struct {
	domain string
	region *regexp.Regexp
}{
	{"amazonaws.com.cn", regexp.MustCompile(`^cn-[a-z]+-\d+$`)},
	{"amazonaws.eu", regexp.MustCompile(`^eusc-de-[a-z]+-\d+$`)},
	{"c2s.ic.gov", regexp.MustCompile(`^us-iso-[a-z]+-\d+$`)},
	{"sc2s.sgov.gov", regexp.MustCompile(`^us-isob-[a-z]+-\d+$`)},
	{"cloud.adc-e.uk", regexp.MustCompile(`^eu-isoe-[a-z]+-\d+$`)},
	{"csp.hci.ic.gov", regexp.MustCompile(`^us-isof-[a-z]+-\d+$`)},
	{"amazonaws.com", regexp.MustCompile(`^[a-z]{2}-(gov-)?[a-z]+-\d+$`)},
}

func domainOf(region string) string {
	for _, known := range amazonDomains {
		if known.region.MatchString(region) {
			return known.domain
		}
	}
	return ""
}

const googleDomain = "googleapis.com"

// inStore completes a location with its bucket. getter is the getter of the address, or the scheme
// of a request. It returns the reason for which an address of an object store is refused, or "".
func (l Location) inStore(getter string) (_ Location, reason string) {
	switch getter {
	case "s3":
		if l.in = l.s3Bucket(); !isBucketName(l.in.Name) {
			return Location{}, "an address of S3 is https://s3-REGION.amazonaws.com/BUCKET/KEY, https://BUCKET.s3.REGION.amazonaws.com/KEY, or https://HOST/BUCKET/KEY of another server"
		}
		if !isRegion(l.in.Region) {
			return Location{}, "a region of S3 has only letters, digits and hyphens"
		}
	case "gcs":
		if l.in = l.googleBucket(true); !isBucketName(l.in.Name) {
			return Location{}, "an address of Google Cloud Storage is https://www.googleapis.com/storage/v1/BUCKET/OBJECT"
		}
	case "http", "https":
		var isAmazon bool
		if l.in, isAmazon = l.amazonBucket(); !isAmazon {
			l.in = l.googleBucket(false)
		}
		return l, ""
	default:
		return l, ""
	}
	if l.in.Service != "" { // which is only asked by https
		l.url.Scheme, l.url.Host = "https", l.url.Hostname()
	}
	if keys := strings.SplitN(strings.TrimPrefix(l.url.Path, "/"), "/", l.in.keyAt+1); len(keys) > l.in.keyAt {
		l.in.Key = keys[l.in.keyAt]
	}
	return l, ""
}

// isBucketName reports whether a name is that of a bucket. Clients take other names, such as that of
// an access point ("arn:..."), for different places.
func isBucketName(name string) bool {
	return name != "" && !strings.HasPrefix(name, ".") && hasOnlyAlphanumericsOr(name, "._-")
}

// isRegion reports whether a region of any server is one label of a host, or empty. Clients put it into
// the names of Amazon's servers that they ask for credentials.
func isRegion(region string) bool {
	return len(region) <= 63 && hasOnlyAlphanumericsOr(region, "-")
}

// s3Bucket returns the zero Bucket for undocumented forms, and for a bucket's host without its region.
func (l Location) s3Bucket() place {
	b, isAmazon := l.amazonBucket()
	switch {
	case isAmazon && b.keyAt == 0 && b.Region == "", !l.isWeb():
		return place{}
	case !isAmazon:
		b = place{Bucket: Bucket{Endpoint: l.url.Scheme + "://" + l.url.Host, Region: l.url.Query().Get("region")}}.inPath(0, l.path)
	}
	b.Region = cmp.Or(b.Region, defaultRegion)
	if isAmazon && domainOf(b.Region) != b.Service {
		return place{}
	}
	return b
}

func (l Location) isWeb() bool {
	return (l.url.Scheme == "https" || l.url.Scheme == "http") && l.url.Host != ""
}

func (l Location) isUsual() bool {
	port := l.Port()
	return port == "" || port == "443" && l.url.Scheme == "https" || port == "80" && l.url.Scheme == "http"
}

func (b place) inPath(at int, path []string) place {
	b.keyAt = at
	if len(path) > at {
		b.Name, b.keyAt = path[at], at+1
	}
	return b
}

func (l Location) amazonBucket() (_ place, isAmazon bool) {
	if !l.isWeb() || !l.isUsual() {
		return place{}, false
	}
	host := l.Host()
	for _, known := range amazonDomains {
		domain := known.domain
		labels, isAmazon := strings.CutSuffix(host, "."+domain)
		if !isAmazon {
			continue
		}
		name, region, isS3 := cutService(labels)
		b := place{Bucket: Bucket{Service: domain, Region: region, Name: name}}
		switch {
		case !isS3:
			return place{}, true
		case name == "":
			return b.inPath(0, l.path), true
		}
		return b, true
	}
	return place{}, false
}

// cutService splits the labels before Amazon's domain; bucket may have dots, and both may be "".
func cutService(host string) (bucket, region string, ok bool) {
	labels := strings.Split(host, ".")
	for i := len(labels) - 1; i >= 0; i-- {
		service, region, dashed := strings.Cut(labels[i], "-")
		if service != "s3" {
			continue
		}
		rest := labels[i+1:]
		if len(rest) > 0 && rest[0] == "dualstack" {
			rest = rest[1:]
		}
		switch {
		case dashed && len(rest) == 0 && region != "":
		case len(rest) == 0 && !dashed:
		case len(rest) == 1 && !dashed && rest[0] != "":
			region = rest[0]
		default:
			return "", "", false
		}
		if i > 0 && labels[0] == "" {
			return "", "", false
		}
		return strings.Join(labels[:i], "."), region, true
	}
	return "", "", false
}

// The addresses of Google Cloud Storage that are documented are
//
//	storage.googleapis.com/BUCKET/OBJECT               BUCKET.storage.googleapis.com/OBJECT
//	storage.googleapis.com/storage/v1/b/BUCKET/o/OBJECT   (and below /download/, and at www.googleapis.com)
//
// A gcs address has the form that stock tools read: www.googleapis.com/storage/v1/BUCKET/OBJECT.
//
// Source: https://cloud.google.com/storage/docs/request-endpoints

// googleBucket accepts the form of a gcs address, or that of the service itself.
func (l Location) googleBucket(isAddress bool) place {
	name, isGoogle := strings.CutSuffix(l.Host(), "."+googleDomain)
	if !isGoogle || !l.isWeb() || !l.isUsual() {
		return place{}
	}
	b := place{Bucket: Bucket{Service: googleDomain}}
	path := l.path
	bucket, isVirtual := strings.CutSuffix(name, ".storage")
	switch isStorage := name == "storage"; {
	case isVirtual && !isAddress:
		b.Name = bucket
		return b
	case !isStorage && name != "www":
		return place{}
	case isAPI(path, "storage", "v1"):
		if !isAddress && len(path) > 2 && path[2] == "b" {
			return b.inAPI(3, path)
		}
		return b.inPath(2, path)
	case isAddress:
		return place{}
	case isAPI(path, "download", "storage", "v1", "b"):
		return b.inAPI(4, path)
	case isStorage:
		return b.inPath(0, path)
	}
	return place{}
}

func isAPI(path []string, want ...string) bool {
	return len(path) >= len(want) && slices.Equal(path[:len(want)], want)
}

// inAPI is inPath for paths of the JSON API, which have an "o" between the bucket and the object.
func (b place) inAPI(at int, path []string) place {
	b = b.inPath(at, path)
	if len(path) > b.keyAt && path[b.keyAt] == "o" {
		b.keyAt++
	}
	return b
}
