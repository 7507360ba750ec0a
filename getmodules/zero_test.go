package getmodules_test

import (
	"errors"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
)

// TestZeroValues checks that methods of zero values return errors and do not panic.
func TestZeroValues(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		&getmodules.FetchError{}, &getmodules.StatusError{}, &getmodules.SubmoduleError{}, &getmodules.RefNotFoundError{},
	} {
		_, _ = err.Error(), errors.Unwrap(err)
	}
	_ = getmodules.Link{}.String()
	f, none := &getmodules.Fetcher{}, getmodules.Request{}
	_, fetchErr := f.Fetch(t.Context(), none)
	_, tagsErr := f.Tags(t.Context(), none)
	_, _ = f.Reference(t.Context(), none)
	_, repositoryErr := f.OCIRepository(t.Context(), none)
	_, contentErr := f.OpenOCI(t.Context(), "", "")
	_, clientErr := f.GitClient(t.Context(), addrs.ModulePackage{})
	for name, err := range map[string]error{
		"Fetch": fetchErr, "Tags": tagsErr, "OCIRepository": repositoryErr, "OpenOCI": contentErr, "GitClient": clientErr,
	} {
		if err == nil {
			t.Errorf("%s of nothing succeeded", name)
		}
	}
}
