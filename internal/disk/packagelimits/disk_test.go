package packagelimits_test

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/disk/packagelimits"
	"github.com/cotterpin/cotter/internal/testenv"
)

func TestDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	disk := packagelimits.DiskOf(packagelimits.NewDisk(100).In(t.Context()))
	over := func(size int64) error {
		return &packagelimits.Error{Limit: packagelimits.OfRun, Size: size, Max: 100}
	}
	others, files := packagelimits.NewDisk(100), int64(0)
	steps := []struct {
		name string
		got  error
		want error
	}{
		{"the first bytes", disk.Take(60), nil},
		{"as many as are left", disk.Expect(dir, 40), nil},
		{"more is expected", disk.Expect(dir, 41), over(101)},
		{"more is taken", disk.Take(41), over(0)},
		{"what was refused does not count", disk.Take(40), nil},
		{"the end", disk.Take(1), over(0)},
		{"files of others", others.Grown(&files, 60), nil},
		{"files that became smaller", others.Grown(&files, 10), nil},
		{"files that grew as much as is left", others.Grown(&files, 50), nil},
		{"files that grew by more", others.Grown(&files, 51), over(0)},
		{"as before", others.Grown(&files, 51), over(0)},
		{"no run", packagelimits.DiskOf(t.Context()).Take(1 << 50), nil},
	}
	for _, step := range steps {
		if diff := cmp.Diff(step.want, step.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
	}
}

func TestNoSpace(t *testing.T) {
	t.Parallel()
	switch runtime.GOOS {
	case "linux", "darwin", "windows":
	default:
		t.Skip("the free space is not known here")
	}
	dir := filepath.Join(t.TempDir())
	var none *packagelimits.Disk
	testenv.Must(t, none.Expect(dir, 1))
	err := none.Expect(dir, math.MaxInt64)
	full, ok := errors.AsType[*packagelimits.SpaceError](err)
	if !ok || full.Need != math.MaxInt64 || full.Free <= 0 {
		t.Errorf("Expect of more than any disk has = %v, want a SpaceError", err)
	}
}

func TestListedVersions(t *testing.T) {
	t.Parallel()
	var none *packagelimits.Disk
	run := packagelimits.NewDisk(1)
	testenv.Must(t, none.List(2*packagelimits.RunVersions))
	testenv.Must(t, run.List(packagelimits.RunVersions-1))
	testenv.Must(t, run.List(1))
	if err := run.List(1); !strings.Contains(fmt.Sprint(err), "more than 500000 versions and other values in all answers of servers to one run") {
		t.Errorf("one version more = %v, want an error about the limit", err)
	}
}
