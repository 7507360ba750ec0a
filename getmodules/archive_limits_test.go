package getmodules_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/getmodules"
)

func TestArchiveLimits(t *testing.T) {
	t.Parallel()
	ten := strings.Repeat("x", 10)
	archives := map[string][]byte{
		"zip":    newZip(rawFile("d/a", ten), rawStored("d/b", ten)).bytes(),
		"tar.gz": gzipped(tarOf(t, tarFile("d/a", ten), tarFile("d/b", ten))),
	}
	tests := map[string]struct {
		limits getmodules.Limits
		fits   bool
	}{
		"fit":       {getmodules.Limits{FileBytes: 10, TreeBytes: 20, Entries: 3, DownloadBytes: 1000}, true},
		"file":      {getmodules.Limits{FileBytes: 9}, false},
		"tree":      {getmodules.Limits{TreeBytes: 19}, false},
		"entries":   {getmodules.Limits{Entries: 2}, false},
		"first one": {getmodules.Limits{Entries: 1}, false},
		"download":  {getmodules.Limits{DownloadBytes: 50}, false},
	}
	for kind, archive := range archives {
		for name, test := range tests {
			_, _, err := extract(t, kind, archive, test.limits)
			if test.fits && err != nil || !test.fits && !errors.Is(err, getmodules.ErrTooLarge) {
				t.Errorf("%s, %s: %v", kind, name, err)
			}
		}
	}
}

// TestRatio has a little more than 64 MiB of zeros, which deflate packs about
// 1000:1.
func TestRatio(t *testing.T) {
	t.Parallel()
	zeros := strings.Repeat("\x00", 65<<20)
	_, _, err := extract(t, "zip", newZip(rawFile("a", zeros)).bytes(), getmodules.Limits{})
	if !errors.Is(err, getmodules.ErrTooLarge) {
		t.Errorf("zip: error is %v, want ErrTooLarge", err)
	}
	_, _, err = extract(t, "tar.gz", gzipped(tarOf(t, tarFile("a", zeros))), getmodules.Limits{})
	if !errors.Is(err, getmodules.ErrTooLarge) {
		t.Errorf("tar.gz: error is %v, want ErrTooLarge", err)
	}
	// What follows the end of the archive counts too.
	_, _, err = extract(t, "tar.gz", gzipped(append(tarOf(t, tarFile("a", "")), zeros...)), getmodules.Limits{})
	if !errors.Is(err, getmodules.ErrTooLarge) {
		t.Errorf("zeros behind tar: error is %v, want ErrTooLarge", err)
	}
}

// TestOverlap is one packed file with a directory that names it many times.
func TestOverlap(t *testing.T) {
	t.Parallel()
	kernel := rawFile("a", strings.Repeat("\x00", 1<<20))
	entries := []*zipRaw{kernel}
	size := len(kernel.local.encode(make([]byte, 6), nil)) + len(kernel.data)
	for i := range 1000 {
		other := *kernel
		other.central.name = fmt.Sprintf("a%d", i)
		other.data, other.local.name, other.shift = nil, "", -size
		size += len(other.local.encode(make([]byte, 6), nil))
		entries = append(entries, &other)
	}
	_, _, err := extract(t, "zip", newZip(entries...).bytes(), getmodules.Limits{})
	wantRefused(t, "overlap", err)
}
