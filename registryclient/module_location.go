package registryclient

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/net/hostname"
	"github.com/cotterpin/cotter/internal/net/httpx"
	"github.com/cotterpin/cotter/internal/process/singleflight"
	"github.com/cotterpin/cotter/versions"
)

// maxLocationAnswer limits an object with one address, in bytes.
const maxLocationAnswer = 1 << 20

// Location is where a registry says that a version of a package is.
type Location struct {
	// Source is the package with the subdirectory in it, which can be a glob. It can contain credentials.
	Source addrs.ModuleSourceRemote
	// Origin is the URL that gave the location, after redirects, without credentials:
	// [Client.PackageLocation] sets it. Only if it is on this machine, as in tests, may the location be an
	// http address or one that has a meaning only here. "", in a Location that a program makes, means the
	// registry's own host, over https.
	Origin string
	// Direct is set if the registry hosts the package as an archive for [Client.Download]. Then
	// the Package of Source is the literal URL, and its Subdir is empty.
	Direct bool
	// UseCredentials is set if the archive requires the registry's credentials.
	UseCredentials bool
}

// PackageLocation gets the location of a version of a package. The error is a *[RequestError].
func (c *Client) PackageLocation(ctx context.Context, pkg addrs.ModuleRegistryPackage, v versions.Version) (Location, error) {
	about := subject{module: pkg, version: v}
	if v.IsZero() {
		return Location{}, failBefore(about, errors.New("registryclient: the zero Version has no location"))
	}
	return once(ctx, &c.locations, about, c.locate)
}

func (c *Client) locate(ctx context.Context, about subject) (Location, error) {
	return asListed(about, func(about subject) (Location, error) {
		return ask(ctx, c, about, document[Location]{last: []string{"download"}, limit: maxLocationAnswer, read: readLocation})
	}, func() string {
		all, err := c.ModuleVersions(ctx, about.module)
		i := slices.IndexFunc(all, func(listed versions.Candidate) bool { return listed.Version == about.version })
		if err != nil || i < 0 {
			return ""
		}
		return all[i].Ref
	})
}

func readLocation(r *request, answer *httpx.Answer) (found Location, err error) {
	body, notObject, err := parseLocation(answer.Body)
	location := cmp.Or(body.Location, answer.Header.Get("X-Terraform-Get"))
	switch {
	case err != nil:
		return Location{}, fmt.Errorf("%w: %w", ErrInvalidAnswer, err)
	case body.UseRegistryCredentials != nil:
		location = body.Location
	case location == "" && notObject != nil && len(answer.Body) > 0:
		return Location{}, fmt.Errorf("%w: it has no header X-Terraform-Get, and no location in its body: %w", ErrInvalidAnswer, notObject)
	case location == "":
		return Location{}, fmt.Errorf(`%w: it has neither a "location" nor the header X-Terraform-Get`, ErrInvalidAnswer)
	}
	if len(location) > httpx.MaxLocation {
		return Location{}, fmt.Errorf("%w: the location has %d bytes, and the limit is %d", ErrInvalidAnswer, len(location), httpx.MaxLocation)
	}
	if body.UseRegistryCredentials != nil {
		found, err = direct(r.url, body)
	} else {
		found, err = indirect(r, location)
	}
	found.Origin = addrs.Redact(answer.URL().String())
	return found, err
}

// once returns the answer from the cache, from another caller that is asking, or by asking.
func once[V any](ctx context.Context, cached *answers[V], about subject, ask func(context.Context, subject) (V, error)) (V, error) {
	found, err := singleflight.For(ctx, cached).Do(ctx, httpx.Share(ctx, about), func(ctx context.Context) (V, error) { return ask(ctx, about) })
	if err != nil {
		var none V
		return none, asRequestError(about, err)
	}
	return found, nil
}

// asRequestError wraps the context's error, the only one that is not a *RequestError.
func asRequestError(about subject, err error) *RequestError {
	if failure, ok := errors.AsType[*RequestError](err); ok {
		return failure
	}
	return failBefore(about, err)
}

type locationBody struct {
	Location string `json:"location"`
	// UseRegistryCredentials is set if the registry hosts the package (OpenTofu 1.12).
	UseRegistryCredentials *bool `json:"use_registry_credentials"`
}

// parseLocation parses a body with a location. Terraform reads only the header, so other registries can
// send anything: notObject is why the body is not a JSON object, and matters only without a header. A wrong
// type in an object is an error.
func parseLocation(text []byte) (body locationBody, notObject, err error) {
	if notObject := httpx.Decode(text, &struct{}{}); notObject != nil {
		return locationBody{}, notObject, nil
	}
	err = httpx.Decode(text, &body)
	return body, nil, err
}

// direct returns the location of a package that the registry hosts: a URL reference, possibly empty,
// without the "//" and query arguments of a source address.
func direct(endpoint *url.URL, body locationBody) (Location, error) {
	u, err := endpoint.Parse(body.Location)
	if err != nil {
		return Location{}, fmt.Errorf("%w: the location %q is not a URL", ErrInvalidAnswer, shown(body.Location))
	}
	if err := checkDirect(endpoint, u); err != nil {
		return Location{}, fmt.Errorf("%w: %q, because %w", ErrRefusedLocation, shown(u.String()), err)
	}
	return Location{
		Source:         addrs.ModuleSourceRemote{Package: addrs.ParseModulePackage(u.String())},
		Direct:         true,
		UseCredentials: *body.UseRegistryCredentials,
	}, nil
}

func checkDirect(endpoint, u *url.URL) error {
	switch {
	case u.Fragment != "" || u.RawFragment != "":
		return errors.New("it has a fragment")
	case u.User != nil:
		return errors.New("it contains credentials")
	}
	return checkTarget(endpoint, u)
}

func checkTarget(registry, u *url.URL) error {
	if reason, ok := hostname.MayPointTo(registry, u); !ok {
		return errors.New(reason)
	}
	return checkWeb(registry, u)
}

// indirect returns a location that is a source address, or a URL relative to the request's.
func indirect(r *request, location string) (Location, error) {
	if strings.HasPrefix(location, "/") || strings.HasPrefix(location, "./") || strings.HasPrefix(location, "../") {
		u, err := r.url.Parse(location)
		if err != nil {
			return Location{}, fmt.Errorf("%w: the location %q is not a URL", ErrInvalidAnswer, shown(location))
		}
		location = u.String()
	}
	source, err := addrs.ParseModuleSource(location)
	if err != nil {
		return Location{}, fmt.Errorf("%w: %w", ErrInvalidAnswer, err)
	}
	remote, ok := source.(addrs.ModuleSourceRemote)
	if !ok {
		return Location{}, fmt.Errorf("%w: %q is not the address of a remote package", ErrRefusedLocation, shown(location))
	}
	if err := checkPackage(r.url, remote.Package); err != nil {
		return Location{}, r.refuseLocation(remote.Package.Redacted(), err)
	}
	return Location{Source: remote}, nil
}

// checkPackage returns the reason why a registry must not point to a package.
func checkPackage(registry *url.URL, pkg addrs.ModulePackage) error {
	at, err := pkg.Location()
	if err != nil {
		return errors.New("it is not a URL")
	}
	u := at.URL()
	if reason, ok := hostname.MayPointTo(registry, u); !ok {
		return errors.New(reason)
	}
	getter := pkg.Getter()
	forced := strings.HasPrefix(pkg.String(), getter+"::")
	switch {
	case forced && getter == "git" && u.Scheme == "ssh" && u.Host != "":
		return nil
	case forced && (getter == "s3" || getter == "gcs"): // which are spoken over http
	case forced && getter != "git":
		return fmt.Errorf("it forces the getter %q", getter)
	case getter == "oci" && u.Host != "":
		return nil
	case getter == "git" && !forced:
		return errors.New("the git protocol is neither encrypted nor authenticated")
	}
	return checkWeb(registry, u)
}

func checkWeb(registry, u *url.URL) error {
	switch {
	case u.Scheme != "https" && u.Scheme != "http":
		return fmt.Errorf("its scheme is %q", u.Scheme)
	case u.Hostname() == "":
		return errors.New("it names no host")
	case u.Scheme == "http" && !(hostname.IsLoopback(u) && hostname.IsLoopback(registry)):
		return errors.New(`its scheme is "http"`)
	}
	return nil
}

// refuseLocation explains the whole rule, because only the registry's operator can change the location.
func (r *request) refuseLocation(location string, err error) error {
	return fmt.Errorf("%w: %q, because %w; the registry %q may only point to https, git over https or ssh, oci, s3 and gcs",
		ErrRefusedLocation, shown(location), err, string(r.host()))
}

func shown(location string) string { return httpx.Printable(addrs.Redact(location)) }
