package registryclient

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// endpoint returns the request for one of the protocol's URLs. last are the segments after
// the address and the version of the subject.
func (c *Client) endpoint(ctx context.Context, about subject, last ...string) (*request, error) {
	base, err := c.service(ctx, about)
	if err != nil {
		return nil, err
	}
	u, err := appendSegments(base, about.segments(last...))
	if err != nil {
		return nil, failBefore(about, err)
	}
	return &request{subject: about, url: u}, nil
}

func (c *Client) service(ctx context.Context, about subject) (*url.URL, error) {
	if c.Services == nil {
		return nil, failBefore(about, errors.New("registryclient: Client.Services is nil"))
	}
	base, err := c.Services.ServiceURL(ctx, about.host(), about.service())
	if err != nil {
		return nil, failBefore(about, err)
	}
	return base, nil
}

// appendSegments appends segments to the path of base and drops its query string, like the
// resolution of a relative URL. It also escapes the segments, so that none of them points
// to another endpoint.
func appendSegments(base *url.URL, segments []string) (*url.URL, error) {
	path, escaped := withSlash(base.Path), withSlash(base.EscapedPath())
	for i, segment := range segments {
		if segment == "" || segment == "." || segment == ".." {
			return nil, fmt.Errorf("%q cannot be a part of an address in a registry", segment)
		}
		if i > 0 {
			path, escaped = path+"/", escaped+"/"
		}
		path += segment
		escaped += url.PathEscape(segment)
	}
	return &url.URL{Scheme: base.Scheme, Host: base.Host, Path: path, RawPath: escaped}, nil
}

func withSlash(path string) string {
	if strings.HasSuffix(path, "/") {
		return path
	}
	return path + "/"
}
