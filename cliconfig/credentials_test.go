package cliconfig_test

import (
	"net/url"
	"path/filepath"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/cliconfig"
)

// TestPlaces looks up the places at which credentials were found.
func TestPlaces(t *testing.T) {
	t.Parallel()
	dir := home(t, map[string]string{
		".tofurc":             credentials(canary) + "credentials \"none.example.com\" {}\ncredentials_helper \"vault\" {}\n" + basic("r.com/team", "u"),
		".netrc":              "machine a.example login a password " + canary + "\n",
		".docker/config.json": auths(map[string]string{"docker.example": "d"}),
	})
	script(t, filepath.Join(dir, ".terraform.d/plugins/terraform-credentials-vault"),
		"case $2 in *helped*) echo '{\"token\": \""+canary+"\"}';; *) echo '{}';; esac\n")
	config := load(t, cliconfig.Environment{Home: dir, Variables: []string{"TF_TOKEN_var_example_com=" + canary, "PATH=/usr/bin:/bin"}})
	for host, want := range map[string]cliconfig.Place{
		"var.example.com":    {Kind: cliconfig.PlaceVariable, Name: "TF_TOKEN_var_example_com"},
		"reg.example.com":    {Kind: cliconfig.PlaceFile, Name: filepath.Join(dir, ".tofurc")},
		"helped.example.com": {Kind: cliconfig.PlaceHelper, Name: filepath.Join(dir, ".terraform.d/plugins/terraform-credentials-vault")},
		"none.example.com":   {},
		"other.example.com":  {},
	} {
		if got, err := config.TokenPlace(t.Context(), addrs.Hostname(host)); got != want || err != nil {
			t.Errorf("TokenPlace(%q) = %v, %v; want %v", host, got, err, want)
		}
	}
	for address, want := range map[string]cliconfig.Place{
		"https://a.example/x": {Kind: cliconfig.PlaceFile, Name: filepath.Join(dir, ".netrc")},
		"https://b.example/x": {},
	} {
		at, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := config.HTTPPlace(t.Context(), at); got != want || err != nil {
			t.Errorf("HTTPPlace(%q) = %v, %v; want %v", address, got, err, want)
		}
	}
	for name, want := range map[string]cliconfig.Place{
		"r.com/team":         {Kind: cliconfig.PlaceFile, Name: filepath.Join(dir, ".tofurc")},
		"docker.example/net": {Kind: cliconfig.PlaceFile, Name: filepath.Join(dir, ".docker", "config.json")},
		"other.example/net":  {},
	} {
		host, path := filepath.Split(name)
		if got, err := config.OCIPlace(t.Context(), filepath.Clean(host), path); got != want || err != nil {
			t.Errorf("OCIPlace(%q) = %v, %v; want %v", name, got, err, want)
		}
	}
}
