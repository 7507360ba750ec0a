package cliconfig_test

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/cliconfig"
)

func TestHTTPCredentials(t *testing.T) {
	t.Parallel()
	const file = "machine a.example login a password " + canary + "\nmachine a.example:8443 login port password x\nmachine b.example login b password x\n"
	for name, test := range map[string]struct {
		files     map[string]string
		variables []string // HOME stands for the home directory
		goos      string
		url, want string // the user name; "" for none
	}{
		"home":               {files: map[string]string{".netrc": file}, url: "https://a.example/x", want: "a"},
		"upper case":         {files: map[string]string{".netrc": file}, url: "https://B.Example/x", want: "b"},
		"usual port":         {files: map[string]string{".netrc": file}, url: "https://a.example:443/x", want: "a"},
		"other port":         {files: map[string]string{".netrc": file}, url: "https://a.example:8443/x", want: "port"},
		"unknown port":       {files: map[string]string{".netrc": file}, url: "https://b.example:8443/x"},
		"443 without TLS":    {files: map[string]string{".netrc": file}, url: "http://a.example:443/x"},
		"other host":         {files: map[string]string{".netrc": file}, url: "https://sub.a.example/x"},
		"variable":           {files: map[string]string{"own": file}, variables: []string{"NETRC=HOME/own"}, url: "https://a.example", want: "a"},
		"variable only":      {files: map[string]string{".netrc": file}, variables: []string{"NETRC=HOME/none"}, url: "https://a.example"},
		"Windows":            {files: map[string]string{"_netrc": file}, goos: "windows", url: "https://a.example", want: "a"},
		"Windows, Unix name": {files: map[string]string{".netrc": file}, goos: "windows", url: "https://a.example"},
		"no file":            {url: "https://a.example"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := home(t, test.files)
			env := cliconfig.Environment{Home: dir, GOOS: test.goos}
			for _, entry := range test.variables {
				env.Variables = append(env.Variables, strings.ReplaceAll(entry, "HOME", dir))
			}
			at, err := url.Parse(test.url)
			if err != nil {
				t.Fatal(err)
			}
			config := load(t, env)
			for range 2 {
				user, err := config.HTTPCredentials(t.Context(), at)
				if err != nil || user.Username() != test.want || (user == nil) != (test.want == "") {
					t.Errorf("HTTPCredentials = %v, %v; want the user %q", user, err, test.want)
				}
				for _, name := range []string{".netrc", "_netrc", "own"} { // it is read once
					_ = os.Remove(filepath.Join(dir, name))
				}
			}
		})
	}
	if user, err := new(cliconfig.Config).HTTPCredentials(t.Context(), &url.URL{Scheme: "https", Host: "a.example"}); user != nil || err != nil {
		t.Errorf("the zero Config has %v, %v", user, err)
	}
	config := load(t, cliconfig.Environment{Variables: []string{"NETRC=" + t.TempDir()}})
	if _, err := config.HTTPCredentials(t.Context(), &url.URL{Scheme: "https", Host: "a.example"}); err == nil || !strings.Contains(err.Error(), "credentials for http") {
		t.Errorf("a directory in NETRC: %v, want an error", err)
	}
}
