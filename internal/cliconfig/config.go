package cliconfig

import (
	"time"

	"github.com/cotterpin/cotter/addrs"
)

// Config is what was found. The zero value is empty. It is safe for concurrent
// use and must not be copied.
type Config struct {
	// Services are those of hosts for which there is to be no discovery, by
	// service identifier. URLs are strings; any other value is as good as none.
	Services map[addrs.Hostname]map[string]any
	// Retries is how often a failed request to a registry is to be repeated: 0
	// if nothing says so, a negative number for never.
	Retries int
	// Timeout is the bound of one request; 0 if nothing says so.
	Timeout time.Duration

	// environ and files have the credentials by host; those without a token
	// say that there are none, whatever a helper knows.
	environ, files map[addrs.Hostname]credentials
	helper         *helper
	answers        memo[addrs.Hostname, credentials]

	oci        ociConfig
	ociAnswers memo[dockerQuestion, OCICredentials]

	programs programs
}

// credentials are what a file or a variable says about a host.
type credentials struct {
	token Token
	none  bool
}
