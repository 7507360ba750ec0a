package packagelimits_test

import (
	"testing"

	"github.com/cotterpin/cotter/internal/disk/packagelimits"
)

func TestError(t *testing.T) {
	t.Parallel()
	tests := []struct {
		err    packagelimits.Error
		text   string
		enough int64
	}{
		{packagelimits.Error{Limit: packagelimits.OfDownload, Size: 3 << 30, Max: 2 << 30}, "3 GiB in the download, more than 2 GiB", 3 << 30},
		{packagelimits.Error{Limit: packagelimits.OfTree, Path: "a", Max: 4 << 30}, `"a": more than 4 GiB in all files`, 8 << 30},
		{packagelimits.Error{Limit: packagelimits.OfTree, Max: 1000}, "more than 1000 bytes in all files", 2000},
		{packagelimits.Error{Limit: packagelimits.OfTree, Max: 7 << 30}, "more than 7 GiB in all files", packagelimits.MaxBytes},
		{packagelimits.Error{Limit: packagelimits.OfTree, Max: packagelimits.MaxBytes}, "more than 8 GiB in all files", 0},
		{packagelimits.Error{Limit: packagelimits.OfDownload, Size: packagelimits.MaxBytes + 1, Max: 2 << 30}, "8589934593 bytes in the download, more than 2 GiB", 0},
		{packagelimits.Error{Limit: packagelimits.OfRun, Path: "a", Max: 64 << 30}, `"a": more than 64 GiB in all that one run writes`, 128 << 30},
		{packagelimits.Error{Limit: packagelimits.OfEntries, Path: "b", Max: 600_000}, `"b": more than 600000 files, directories and links`, packagelimits.MaxEntries},
		{packagelimits.Error{Limit: packagelimits.OfEntries, Max: packagelimits.MaxEntries}, "more than 1000000 files, directories and links", 0},
	}
	for _, test := range tests {
		if got := test.err.Error(); got != test.text {
			t.Errorf("Error() = %q, want %q", got, test.text)
		}
		if got := test.err.Enough(); got != test.enough {
			t.Errorf("%s: Enough() = %d, want %d", test.text, got, test.enough)
		}
	}
}
