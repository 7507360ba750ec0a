package gcs_test

import (
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules/gcs"
)

func TestAddress(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string][3]string{
		"https://www.googleapis.com/storage/v1/b/net.zip":             {"b", "net.zip", ""},
		"https://www.googleapis.com/storage/v1/b/a%20b/n%2Ft.zip#17":  {"b", "a b/n/t.zip", "17"},
		"https://storage.googleapis.com/storage/v1/b/a//b/":           {"b", "a//b/", ""},
		"https://www.googleapis.com/storage/v1/b":                     {"b", "", ""},
		"http://www.googleapis.com/storage/v1/b/?alt=json&generation": {"b", "", ""},
	} {
		at, err := addrs.ParseModulePackage("gcs::" + raw).Location()
		if err != nil {
			t.Fatal(err)
		}
		bucket, object, generation, err := gcs.ParseAddress(at)
		if got := [...]string{bucket, object, generation}; err != nil || got != want {
			t.Errorf("ParseAddress(%q) = %q, %v, want %q", raw, got, err, want)
		}
	}
}

// FuzzAddress checks that no address points outside the bucket part of the API.
func FuzzAddress(f *testing.F) {
	for _, seed := range []string{
		"https://www.googleapis.com/storage/v1/b/net.zip#17", "https://www.googleapis.com/storage/v1/../o", "https://www.googleapis.com/storage/v1/%2e/o",
		"https://www.googleapis.com/a/b/c/d/e", "https://x@www.googleapis.com/storage/v1/b", "https://www.googleapis.com:1/storage/v1/b/o",
		"https://www.googleapis.com/storage/v1//o", "gs://b/o", "https://www.googleapis.com/storage/v1/b/..", "https://www.googleapis.com/storage/v1/b#-1",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		at, err := addrs.ParseModulePackage("gcs::" + raw).Location()
		if err != nil {
			return
		}
		bucket, object, generation, err := gcs.ParseAddress(at)
		if err != nil {
			return
		}
		if bucket == "" || strings.Contains(bucket, "/") || bucket == "." || bucket == ".." || object == "." || object == ".." {
			t.Errorf("%q becomes %q, %q", raw, bucket, object)
		}
		if strings.Trim(generation, "0123456789") != "" {
			t.Errorf("%q has the generation %q", raw, generation)
		}
	})
}
