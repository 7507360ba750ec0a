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
		fmt.Fprint(w, `{"modules.v1": "/v1/"}`)
	case "/v1/acme/net/aws/versions":
		fmt.Fprint(w, `{"modules": [{"versions": [{"version": "1.0.0"}, {"version": "1.1.0"}]}]}`)
	case "/v1/acme/net/aws/1.1.0/download":
		fmt.Fprint(w, `{"location": "git::https://git.example.com/net.git//modules/vpc?ref=v1.1.0"}`)
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
