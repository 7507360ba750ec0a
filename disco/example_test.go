package disco_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/disco"
)

func ExampleClient_ServiceURL() {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"modules.v1": "/api/modules"}`)
	}))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "https://")

	client := &disco.Client{HTTPClient: server.Client()}
	base, err := client.ServiceURL(context.Background(), addrs.Hostname(host), "modules.v1")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(base.Path)
	// Output: /api/modules/
}

// Tokens is a source with a token for each of some hosts.
type Tokens map[addrs.Hostname]disco.BearerToken

func (t Tokens) ForHost(_ context.Context, host addrs.Hostname) (disco.Credentials, error) {
	if token, ok := t[host]; ok {
		return token, nil
	}
	return nil, nil
}

func ExampleCredentialsSource() {
	client := &disco.Client{Credentials: Tokens{"registry.example.com": "s3cr3t"}}

	req, err := http.NewRequest(http.MethodGet, "https://registry.example.com/api/modules/", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := client.Authorize(context.Background(), "registry.example.com", req); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(req.Header.Get("Authorization"))
	fmt.Println(client.Credentials)
	// Output:
	// Bearer s3cr3t
	// map[registry.example.com:REDACTED]
}
