package getmodules_test

import (
	"errors"
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
