package gogetter_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/getmodules"
)

const gcsAddress = "gcs::https://www.googleapis.com/storage/v1/"

func zipOf(t *testing.T, text string) string {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	f, err := w.Create("main.tf")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

func TestGCSArchive(t *testing.T) {
	t.Parallel()
	cloud.put("archives/net.zip", zipOf(t, "now"))
	cloud.put("archives/net.zip#17", zipOf(t, "old"))
	for fragment, want := range map[string]string{"": "now", "#17": "old"} {
		got, pkg, err := fetch(t, new(getmodules.Fetcher), gcsAddress+"archives/net.zip"+fragment)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]string{"main.tf": want}, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", fragment, diff)
		}
		if want := gcsAddress + "archives/net.zip" + fragment; string(pkg.Resolved) != want || pkg.ArchiveSum == "" {
			t.Errorf("got %+v, want %q", pkg, want)
		}
	}
}

func TestGCSDirectory(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"net/main.tf", "net/sub/a.tf", "net/", "net-2/main.tf", "nets"} {
		cloud.put("directories/"+name, name)
	}
	got, _, err := fetch(t, new(getmodules.Fetcher), gcsAddress+"directories/net")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"main.tf": "net/main.tf", "sub/a.tf": "net/sub/a.tf"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestGCSRefused(t *testing.T) {
	t.Parallel()
	cloud.put("refused/git/.git/config", "x")
	cloud.put("refused/up/../../../x", "x")
	cloud.put("refused/large/a", strings.Repeat("x", 1000))
	cloud.put("refused/large.zip", zipOf(t, "x"))
	limits := getmodules.Limits{TreeBytes: 999, DownloadBytes: 20}
	tests := map[string]struct {
		want   error
		limits getmodules.Limits
	}{
		"refused/missing.zip":      {want: fs.ErrNotExist},
		"refused/large.zip#1":      {want: fs.ErrNotExist},
		"refused/large.zip#1x":     {},
		"refused/git#1":            {},
		"refused/missing":          {want: getmodules.ErrEmpty},
		"refused/git":              {want: getmodules.ErrUnsafeEntry},
		"refused/up":               {},
		"refused/large":            {getmodules.ErrTooLarge, limits},
		"refused/large.zip":        {getmodules.ErrTooLarge, limits},
		"refused":                  {},
		"refused/large.zip?":       {getmodules.ErrTooLarge, limits},
		"refused/large.tar.gz.tar": {want: getmodules.ErrEmpty},
	}
	for address, test := range tests {
		_, _, err := fetch(t, &getmodules.Fetcher{Limits: test.limits}, gcsAddress+address)
		if err == nil || test.want != nil && !errors.Is(err, test.want) {
			t.Errorf("%s: error is %v, want %v", address, err, test.want)
		}
	}
	for _, address := range []string{"gcs::https://example.com/storage/v1/b/o.zip", "gcs::gs://b/o.zip", "gcs::https://u:p@www.googleapis.com/storage/v1/b/o.zip"} {
		if _, _, err := fetch(t, new(getmodules.Fetcher), address); err == nil {
			t.Errorf("%s is fetched", address)
		}
	}
}

// TestGCSBusy ends what Google's client would try for ever.
func TestGCSBusy(t *testing.T) {
	t.Parallel()
	_, _, err := fetch(t, &getmodules.Fetcher{StallTimeout: time.Millisecond}, gcsAddress+"busy/net.zip")
	if err == nil || errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "nothing came") {
		t.Errorf("error is %v, want that nothing came", err)
	}
}
