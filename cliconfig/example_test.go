package cliconfig_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"

	"github.com/cotterpin/cotter/cliconfig"
	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/registryclient"
)

// A program uses its user's configuration of tofu. A real program would get the environment from
// [cliconfig.OSEnvironment].
func Example() {
	home, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(home)
	for name, text := range map[string]string{
		".tofurc": `host "registry.example.com" {
  services = { "modules.v1" = "https://modules.example.com/v1/" }
}
oci_credentials "oci.example.com/team" {
  username = "robot"
  password = "s3cret"
}`,
		".netrc": "machine files.example.com login robot password s3cret",
	} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			fmt.Println(err)
			return
		}
	}
	env := cliconfig.Environment{
		Home:      home,
		Variables: []string{"TF_TOKEN_registry_example_com=s3cret", "COTTER_CACHE_DIR=/var/cache/ci"},
		GOOS:      "linux",
	}

	ctx := context.Background()
	config, err := env.Load(ctx, cliconfig.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	client := &http.Client{Timeout: config.Timeout}
	services := &disco.Client{
		HTTPClient:     client,
		Credentials:    config,
		ForcedServices: config.Services,
		Attempts:       config.Attempts,
	}
	registry := &registryclient.Client{Services: services, HTTPClient: client, Attempts: config.Attempts}
	fetcher := &getmodules.Fetcher{
		CacheDir:        env.CacheDir(),
		HTTPCredentials: config.HTTPCredentials,
		OCICredentials:  config.OCICredentials,
	}

	modules, _ := registry.Services.ServiceURL(ctx, "registry.example.com", "modules.v1")
	fmt.Println(modules)
	token, _ := services.Credentials.ForHost(ctx, "registry.example.com")
	fmt.Println(token)
	user, _ := fetcher.HTTPCredentials(ctx, &url.URL{Scheme: "https", Host: "files.example.com"})
	fmt.Println(user.Username())
	login, _ := fetcher.OCICredentials(ctx, "oci.example.com", "team/network")
	fmt.Println(login.Username, login)
	fmt.Println(fetcher.CacheDir)
	// Output:
	// https://modules.example.com/v1/
	// REDACTED
	// robot
	// robot REDACTED
	// /var/cache/ci
}
