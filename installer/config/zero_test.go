package config_test

import (
	"errors"
	"testing"

	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/versions"
)

// The methods of zero values do not panic.
func TestZeroValues(t *testing.T) {
	t.Parallel()
	var requirement config.ProviderRequirement
	if _, err := requirement.Constraints(); err != nil || requirement.String() != "the root module" || requirement.Allows(versions.Version{}) {
		t.Errorf("a zero requirement is %q, %v", requirement, err)
	}
	for _, err := range []error{
		&config.ProviderError{}, &config.UnknownProviderError{}, &config.UnusableVersionError{}, &config.FileReadError{},
	} {
		if err.Error() == "" || errors.Unwrap(err) != nil {
			t.Errorf("%T is %q, and wraps %v", err, err, errors.Unwrap(err))
		}
	}
}
