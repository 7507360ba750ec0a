package addrs_test

import (
	"fmt"
	"testing"

	"github.com/cotterpin/cotter/addrs"
)

// Zero values have no text, so that logs do not show separators of nothing.
func TestZeroText(t *testing.T) {
	t.Parallel()
	for _, zero := range []fmt.Stringer{
		addrs.Provider{}, addrs.ModuleRegistryPackage{}, addrs.ModuleSourceRegistry{}, addrs.ModuleSourceRemote{},
		addrs.ModuleSourceLocal(""), addrs.ModulePackage{}, addrs.Module{}, addrs.Platform{},
	} {
		if got := zero.String(); got != "" {
			t.Errorf("the zero %T is %q", zero, got)
		}
	}
}
