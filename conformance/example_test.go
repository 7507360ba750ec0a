package conformance_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/conformance"
)

func ExampleClient_ModuleRegistry() {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"modules.v1": "/v1"}`) // this server has two mistakes
	}))
	defer server.Close()

	client := conformance.Client{HTTPClient: server.Client()}
	report, err := client.ModuleRegistry(context.Background(), addrs.ModuleRegistryPackage{
		Host: addrs.Hostname(strings.TrimPrefix(server.URL, "https://")), Namespace: "acme", Name: "net", TargetSystem: "aws",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, v := range report.Violations[:2] {
		fmt.Println(v.Rule, "-", v.Message)
	}
	// Output:
	// discovery.type - the content type is "text/plain; charset=utf-8"
	// discovery.slash - "modules.v1" is "/v1"
}
