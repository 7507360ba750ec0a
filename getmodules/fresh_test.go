package getmodules_test

import (
	"net/http"
	"reflect"
	"testing"

	"github.com/cotterpin/cotter/getmodules"
)

func TestFresh(t *testing.T) {
	t.Parallel()
	f := &getmodules.Fetcher{
		HTTPClient: &http.Client{}, UserAgent: "test", CacheDir: "/cache", AlwaysGit: true, HTTPClientForGit: true,
		Git: getmodules.Git{Path: "/git", Env: []string{"A=1"}, Interactive: true}, Limits: getmodules.Limits{Entries: 7},
		Getters: map[string]getmodules.Getter{"x": nil},
	}
	fresh := f.Fresh()
	a, b := reflect.ValueOf(f).Elem(), reflect.ValueOf(fresh).Elem()
	for i := range a.NumField() {
		if field := a.Type().Field(i); field.IsExported() && field.Type.Kind() != reflect.Func && !reflect.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()) {
			t.Errorf("%s is %v, want %v", field.Name, b.Field(i), a.Field(i))
		}
	}
	if fresh.Limits.Entries != 7 || fresh.Git.Path != "/git" || fresh.HTTPClient != f.HTTPClient {
		t.Error("nested settings are missing")
	}
	fresh.CacheDir = "/other"
	if f.CacheDir != "/cache" {
		t.Error("a change of the copy changes the original")
	}
}
