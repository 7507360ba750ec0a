package registryclient

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/hostname"
	"github.com/cotterpin/cotter/internal/httpx"
)

// direct returns the location of a package that the registry hosts. It is a URL reference,
// which can be empty. It is not parsed as a source address with "//" and query arguments.
func direct(endpoint *url.URL, body locationBody) (Location, error) {
	if len(body.Location) > maxLocation {
		return Location{}, tooLong(body.Location)
	}
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
	if reason, ok := hostname.MayPointTo(endpoint, u); !ok {
		return errors.New(reason)
	}
	return checkWeb(endpoint, u)
}

// indirect returns a location that is a source address, or a URL relative to the request's
// URL.
func indirect(r *request, location string) (Location, error) {
	if isRelative(location) {
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
		return Location{}, fmt.Errorf("%w: %q is not the address of a remote package; ask the registry's operator to correct it", ErrRefusedLocation, shown(location))
	}
	if err := checkPackage(r.url, remote.Package); err != nil {
		return Location{}, r.refuseLocation(remote.Package.Redacted(), err)
	}
	return Location{Source: remote}, nil
}

func isRelative(location string) bool {
	return strings.HasPrefix(location, "/") || strings.HasPrefix(location, "./") || strings.HasPrefix(location, "../")
}

// checkPackage returns the reason why a registry must not point to a package; nil if it
// may.
func checkPackage(registry *url.URL, pkg addrs.ModulePackage) error {
	u, err := pkg.URL()
	if err != nil {
		return errors.New("it is not a URL")
	}
	if reason, ok := hostname.MayPointTo(registry, u); !ok {
		return errors.New(reason)
	}
	getter := pkg.Getter()
	forced := strings.HasPrefix(pkg.String(), getter+"::")
	switch {
	case forced && getter == "git" && u.Scheme == "ssh" && u.Host != "":
		return nil
	case forced && getter != "git":
		return fmt.Errorf("it forces the getter %q", getter)
	case getter == "oci" && u.Host != "":
		return nil
	case getter == "git" && !forced:
		return errors.New("the git protocol is neither encrypted nor authenticated")
	}
	return checkWeb(registry, u)
}

// checkWeb is checkPackage for http and https URLs.
func checkWeb(registry, u *url.URL) error {
	switch {
	case u.Scheme != "https" && u.Scheme != "http":
		return fmt.Errorf("its scheme is %q", u.Scheme)
	case u.Host == "":
		return errors.New("it names no host")
	case u.Scheme == "http" && !(hostname.IsLoopback(u) && hostname.IsLoopback(registry)):
		return errors.New(`its scheme is "http"`)
	}
	return nil
}

// refuseLocation returns an error that explains the whole rule, because only the registry's
// operator can change the location.
func (r *request) refuseLocation(location string, err error) error {
	return fmt.Errorf("%w: %q, because %w; the registry %q may only point to https, git over https or ssh, and oci. Ask its operator, or use that address as the source yourself if you trust it",
		ErrRefusedLocation, shown(location), err, string(r.host()))
}

// shown returns a location in the form that messages need.
func shown(location string) string { return httpx.Printable(addrs.Redact(location)) }
