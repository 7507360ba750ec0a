package s3_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getmodules/s3"
	"github.com/cotterpin/cotter/internal/testenv"
)

// TestMain keeps the machine's configuration away from the SDK, which reads the
// environment of the process. The SDK finds test credentials, but no configuration files
// and no instance metadata.
func TestMain(m *testing.M) {
	none := filepath.Join(os.TempDir(), "cotter-s3-does-not-exist")
	for name, value := range map[string]string{
		"AWS_CONFIG_FILE":             none,
		"AWS_SHARED_CREDENTIALS_FILE": none,
		"AWS_EC2_METADATA_DISABLED":   "true",
		"AWS_CA_BUNDLE":               "",
		"AWS_PROFILE":                 "",
		"AWS_SESSION_TOKEN":           "",
		"AWS_ENDPOINT_URL":            "",
		"AWS_ENDPOINT_URL_S3":         "",
		"AWS_ACCESS_KEY_ID":           "AKIDENVIRONMENT",
		"AWS_SECRET_ACCESS_KEY":       "environment",
	} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// fetch fetches a package into a new directory and returns its files. It also checks that
// nothing else is left there. A Fetcher without Getters gets one for a user who has named the
// server of the address.
func fetch(t *testing.T, f *getmodules.Fetcher, address string) (map[string]string, *getmodules.Package, error) {
	t.Helper()
	if f.Getters == nil {
		f.Getters = getters(&s3.Getter{Endpoints: endpointsOf(address)})
	}
	return testenv.Fetch(t, t.TempDir(), func(dir string) (*getmodules.Package, error) {
		return f.Fetch(t.Context(), getmodules.Request{Package: addrs.ParseModulePackage(address), Dir: dir})
	})
}

func getters(g *s3.Getter) map[string]getmodules.Getter { return map[string]getmodules.Getter{"s3": g} }

// endpointsOf returns the server of an address, for the user's own list; nil if it is Amazon.
func endpointsOf(address string) []string {
	at, err := addrs.ParseModulePackage(address).Location()
	if err != nil || at.Bucket().Endpoint == "" {
		return nil
	}
	return []string{at.Bucket().Endpoint}
}
