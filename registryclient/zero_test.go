package registryclient_test

import (
	"errors"
	"io"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/registryclient"
	"github.com/cotterpin/cotter/versions"
)

// TestZeroValues checks that methods of zero values return errors and do not panic.
func TestZeroValues(t *testing.T) {
	t.Parallel()
	for _, err := range []error{&registryclient.RequestError{}, &registryclient.ProtocolError{}} {
		_, _ = err.Error(), errors.Unwrap(err)
	}
	_ = (&registryclient.RequestError{}).Subject()
	c := &registryclient.Client{}
	_, versionsErr := c.ModuleVersions(t.Context(), addrs.ModuleRegistryPackage{})
	_, locationErr := c.PackageLocation(t.Context(), addrs.ModuleRegistryPackage{}, versions.Version{})
	_, providersErr := c.ProviderVersions(t.Context(), addrs.Provider{})
	_, packageErr := c.ProviderPackage(t.Context(), addrs.Provider{}, versions.Version{}, addrs.Platform{})
	_, _, renamedErr := c.ProviderRenamed(t.Context(), addrs.Provider{})
	downloadErr := c.Download(t.Context(), addrs.ModuleRegistryPackage{}, registryclient.Location{}, io.Discard)
	for name, err := range map[string]error{
		"ModuleVersions": versionsErr, "PackageLocation": locationErr, "Download": downloadErr,
		"ProviderVersions": providersErr, "ProviderPackage": packageErr, "ProviderRenamed": renamedErr,
	} {
		if _, ok := errors.AsType[*registryclient.RequestError](err); !ok {
			t.Errorf("%s of a zero Client = %v, want a *RequestError", name, err)
		}
	}
	_ = registryclient.ProviderVersion{}.Compatible()
	_ = c.Fresh()
}
