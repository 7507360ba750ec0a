package cliconfig_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/cliconfig"
	"github.com/cotterpin/cotter/internal/testenv"
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
		"a directory":        {files: map[string]string{".netrc/x": file}, url: "https://a.example"},
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
			testenv.Must(t, err)
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

func TestNetrc(t *testing.T) {
	t.Parallel()
	const plain = "machine a.example login me password secret\n"
	for _, tt := range []struct{ text, host, login, password string }{
		{plain, "a.example", "me", "secret"},
		{plain, "A.Example", "me", "secret"},
		{"machine A.example\n\tlogin me\n\tpassword secret\n", "a.example", "me", "secret"},
		{"machine a.example\r\nlogin me\r\npassword secret\r\n", "a.example", "me", "secret"},
		{"machine x login no password no " + plain, "a.example", "me", "secret"},
		{"machine a.example password secret account x login me", "a.example", "me", "secret"},
		{"machine a.example login me password secret\nmachine a.example login other password other", "a.example", "me", "secret"},
		{"# machine a.example login no\n" + plain, "a.example", "me", "secret"},
		{"machine a.example # login no\nlogin me password #secret", "a.example", "me", "#secret"},
		{`machine "a.example" login "m e" password "se\"c\\ret#"`, "a.example", "m e", `se"c\ret#`},
		{"machine a.example:8443 login me password secret", "a.example:8443", "me", "secret"},
		{"macdef init\nmachine a.example login no password no\n\n" + plain, "a.example", "me", "secret"},
		{"default login no password no\n" + plain, "a.example", "me", "secret"},
		{plain + "default login no password no", "a.example", "me", "secret"},
		{"login no password no " + plain, "a.example", "me", "secret"},
		{"machine a.example login machine password default", "a.example", "machine", "default"},
		// These have no entry for the host.
		{"", "a.example", "", ""},
		{plain, "b.example", "", ""},
		{"machine b.example login me password secret", "a.b.example", "", ""},
		{"machine .example login me password secret", "a.example", "", ""},
		{"machine a.example:443 login me password x", "a.example", "", ""},
		{plain, "a.example:8443", "", ""},
		{"default login me password secret", "a.example", "", ""},
		{"machine", "", "", ""},
		{"macdef x\nmachine a.example login me", "a.example", "", ""},
		{"# " + plain, "a.example", "", ""},
		{"password " + plain, "a.example", "", ""},
	} {
		user, err := cliconfig.Netrc([]byte(tt.text))(t.Context(), &url.URL{Scheme: "https", Host: tt.host})
		password, _ := user.Password()
		if user.Username() != tt.login || password != tt.password || (user != nil) != (tt.login != "") || err != nil {
			t.Errorf("Netrc(%q) has %v for %q, %v; want %q, %q", tt.text, user, tt.host, err, tt.login, tt.password)
		}
	}
}

func FuzzNetrc(f *testing.F) {
	f.Add([]byte(`machine a password "b\`))
	f.Add([]byte("machine a login b password \"c\\\"\" # x\nmacdef y\nz\n\ndefault login d"))
	f.Fuzz(func(t *testing.T, src []byte) {
		user, err := cliconfig.Netrc(src)(t.Context(), &url.URL{Scheme: "https", Host: "no such host"})
		if err != nil || user != nil && len(src) < len("machine no such host") {
			t.Errorf("found a host that is not there, or %v", err)
		}
	})
}

func ExampleNetrc() {
	find := cliconfig.Netrc([]byte("machine modules.example.com login ci password s3cret\n"))
	user, err := find(context.Background(), &url.URL{Scheme: "https", Host: "modules.example.com:443", Path: "/net.zip"})
	fmt.Println(user.Username(), err)
	none, err := find(context.Background(), &url.URL{Scheme: "https", Host: "modules.example.com:8443"})
	fmt.Println(none == nil, err)
	// Output:
	// ci <nil>
	// true <nil>
}
