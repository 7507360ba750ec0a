package registryclient

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// endpoint returns the request for one of the protocol's URLs of a release or, if
// there is no version, of a package.
func (c *Client) endpoint(ctx context.Context, about release, last string) (*request, error) {
	base, err := c.service(ctx, about)
	if err != nil {
		return nil, err
	}
	segments := []string{about.pkg.Namespace, about.pkg.Name, about.pkg.TargetSystem}
	if !about.version.IsZero() {
		segments = append(segments, about.version.String())
	}
	u, err := appendSegments(base, append(segments, last))
	if err != nil {
		return nil, failBefore(about, err)
	}
	return &request{release: about, url: u}, nil
}

func (c *Client) service(ctx context.Context, about release) (*url.URL, error) {
	if c.Services == nil {
		return nil, failBefore(about, errors.New("registryclient: Client.Services is nil"))
	}
	base, err := c.Services.ServiceURL(ctx, about.pkg.Host, serviceID)
	if err != nil {
		return nil, failBefore(about, err)
	}
	return base, nil
}

// appendSegments appends segments to the path of base and drops its query string,
// as resolving a relative URL does. Unlike that, it escapes segments, so that none
// points to another endpoint.
func appendSegments(base *url.URL, segments []string) (*url.URL, error) {
	path, escaped := withSlash(base.Path), withSlash(base.EscapedPath())
	for i, segment := range segments {
		if segment == "" || segment == "." || segment == ".." {
			return nil, fmt.Errorf("%q cannot be a part of a module's address", segment)
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
