package registryclient

import (
	"errors"
	"fmt"
	"net/url"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/netguard"
)

// direct reads the location of a package that the registry hosts: any URL
// reference, even an empty one, and never a source address with its "//" and
// query arguments.
func direct(endpoint *url.URL, said locationBody) (Location, error) {
	if len(said.Location) > maxLocation {
		return Location{}, tooLong(said.Location)
	}
	u, err := endpoint.Parse(said.Location)
	if err != nil {
		return Location{}, fmt.Errorf("%w: the location %q is not a URL", ErrInvalidAnswer, shown(said.Location))
	}
	if err := checkDirect(endpoint, u); err != nil {
		return Location{}, fmt.Errorf("%w: %q, because %w", ErrRefusedLocation, shown(u.String()), err)
	}
	return Location{
		Source:         addrs.ModuleSourceRemote{Package: addrs.ParseModulePackage(u.String())},
		Direct:         true,
		UseCredentials: *said.UseRegistryCredentials,
	}, nil
}

func checkDirect(endpoint, u *url.URL) error {
	switch {
	case u.Fragment != "" || u.RawFragment != "":
		return errors.New("it has a fragment")
	case u.User != nil:
		return errors.New("it brings its own credentials")
	}
	if reason, ok := netguard.May(endpoint, u); !ok {
		return errors.New(reason)
	}
	return checkWeb(endpoint, u)
}
