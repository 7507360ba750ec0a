package registryclient_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/registryclient"
)

func registry(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch r.URL.Path {
	case "/.well-known/terraform.json":
		fmt.Fprint(w, `{"modules.v1": "/v1/", "providers.v1": "/p/"}`)
	case "/v1/acme/net/aws/versions":
		fmt.Fprint(w, `{"modules": [{"versions": [{"version": "1.0.0"}, {"version": "1.1.0"}]}]}`)
	case "/v1/acme/net/aws/1.1.0/download":
		fmt.Fprint(w, `{"location": "git::https://git.example.com/net.git//modules/vpc?ref=v1.1.0"}`)
	case "/p/acme/cloud/versions":
		fmt.Fprint(w, `{"versions": [{"version": "1.0.0", "platforms": [{"os": "linux", "arch": "amd64"}]}]}`)
	case "/p/acme/cloud/1.0.0/download/linux/amd64":
		fmt.Fprintf(w, `{
			"os": "linux", "arch": "amd64", "filename": "terraform-provider-cloud_1.0.0_linux_amd64.zip",
			"download_url": "https://cdn.example.com/cloud.zip", "shasum": "%064d",
			"shasums_url": "https://cdn.example.com/SHA256SUMS", "shasums_signature_url": "https://cdn.example.com/SHA256SUMS.sig"
		}`, 0)
	default:
		http.NotFound(w, r)
	}
}

func Example() {
	server := httptest.NewTLSServer(http.HandlerFunc(registry))
	defer server.Close()
	pkg := addrs.ModuleRegistryPackage{
		Host:         addrs.Hostname(strings.TrimPrefix(server.URL, "https://")),
		Namespace:    "acme",
		Name:         "net",
		TargetSystem: "aws",
	}

	client := &registryclient.Client{
		Services:   &disco.Client{HTTPClient: server.Client()},
		HTTPClient: server.Client(),
	}
	ctx := context.Background()
	offered, err := client.ModuleVersions(ctx, pkg)
	if err != nil {
		fmt.Println(err)
		return
	}
	newest := offered[len(offered)-1].Version
	found, err := client.PackageLocation(ctx, pkg, newest)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(newest)
	fmt.Println(found.Source.Package)
	fmt.Println(found.Source.Subdir)
	// Output:
	// 1.1.0
	// git::https://git.example.com/net.git?ref=v1.1.0
	// modules/vpc
}

func ExampleClient_ProviderPackage() {
	server := httptest.NewTLSServer(http.HandlerFunc(registry))
	defer server.Close()
	provider := addrs.Provider{
		Hostname:  addrs.Hostname(strings.TrimPrefix(server.URL, "https://")),
		Namespace: "acme",
		Type:      "cloud",
	}

	client := &registryclient.Client{
		Services:   &disco.Client{HTTPClient: server.Client()},
		HTTPClient: server.Client(),
	}
	ctx := context.Background()
	offered, err := client.ProviderVersions(ctx, provider)
	if err != nil {
		fmt.Println(err)
		return
	}
	newest := offered.Versions[len(offered.Versions)-1]
	found, err := client.ProviderPackage(ctx, provider, newest.Version, newest.Platforms[0])
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(newest.Version, found.Platform)
	fmt.Println(found.URL)
	// Output:
	// 1.0.0 linux_amd64
	// https://cdn.example.com/cloud.zip
}
