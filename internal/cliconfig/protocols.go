package cliconfig

import (
	"fmt"
	"strconv"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/internal/cliconfig/hcl1"
)

const (
	retryVariable   = "TF_REGISTRY_DISCOVERY_RETRY"
	timeoutVariable = "TF_REGISTRY_CLIENT_TIMEOUT"

	// maxRetries is more than any outage needs that is worth waiting for.
	maxRetries = 100
	// maxTimeout is a day, in seconds.
	maxTimeout = 24 * 60 * 60
)

// registryProtocols adds the settings that neither a variable nor a file before
// this one has.
func (d *decoder) registryProtocols(at hcl1.Pos, body hcl1.Object) {
	if d.protocols {
		d.fault(at, "There is a registry_protocols block already in this file.")
		return
	}
	d.protocols = true
	if n, ok := d.count(at, body, "retry_count", maxRetries); ok && d.config.Retries == 0 {
		d.config.setRetries(n)
	}
	if n, ok := d.count(at, body, "request_timeout_seconds", maxTimeout); ok && d.config.Timeout == 0 {
		d.config.Timeout = time.Duration(n) * time.Second
	}
}

// setRetries translates a count into a field where 0 means that nothing is set.
func (c *Config) setRetries(n int) {
	if c.Retries = n; n == 0 {
		c.Retries = -1
	}
}

// addProtocols adds the variables. What is not a number above zero is as good
// as not set in stock tools, which do not tell.
func (c *Config) addProtocols(s Source) hcl.Diagnostics {
	var diags hcl.Diagnostics
	positive := func(name string, limit int) int {
		value := s.lookup(name)
		n, err := strconv.Atoi(value)
		if err == nil && 0 < n && n <= limit {
			return n
		}
		if value != "" {
			diags = append(diags, &hcl.Diagnostic{
				Severity: hcl.DiagWarning,
				Summary:  fmt.Sprintf("%s is ignored", name),
				Detail:   fmt.Sprintf("Its value has to be a whole number from 1 to %d.", limit),
			})
		}
		return 0
	}
	c.Retries = positive(retryVariable, maxRetries)
	c.Timeout = time.Duration(positive(timeoutVariable, maxTimeout)) * time.Second
	return diags
}
