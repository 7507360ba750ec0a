package testenv

import (
	"context"
	"errors"
	"testing"

	"github.com/cotterpin/cotter/internal/disk/packagelimits"
)

// LastExceedsRun makes calls in one run, whose context list gets with the number of the call, and reports an error of the
// test unless only the last one exceeds [packagelimits.RunVersions]. The others must return no error.
func LastExceedsRun(t testing.TB, calls int, list func(ctx context.Context, call int) error) {
	t.Helper()
	ctx := packagelimits.NewDisk(0).In(t.Context())
	for call := range calls {
		err := list(ctx, call)
		if call < calls-1 {
			Must(t, err)
		} else if limit, ok := errors.AsType[*packagelimits.Error](err); !ok || limit.Limit != packagelimits.OfVersions {
			t.Errorf("call %d = %v, want the limit of a run", call, err)
		}
	}
}
