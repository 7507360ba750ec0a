package cliconfig

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"golang.org/x/net/idna"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/secret"
)

const (
	tokenPrefix     = "TF_TOKEN_"
	retryVariable   = "TF_REGISTRY_DISCOVERY_RETRY"
	timeoutVariable = "TF_REGISTRY_CLIENT_TIMEOUT"

	downloadRetryVariable       = "TF_PROVIDER_DOWNLOAD_RETRY"
	pluginCacheVariable         = "TF_PLUGIN_CACHE_DIR"
	pluginCacheMayBreakVariable = "TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE"

	// maxRetries is the maximum number of retries. More would not help in any outage that
	// is worth waiting for.
	maxRetries = 100
	// maxTimeout is a day, in seconds.
	maxTimeout = 24 * 60 * 60
)

// addVariables adds the settings in variables. As in stock tools, a token variable whose
// name does not encode a host is skipped, because other programs may use the prefix too. A
// number that is not above zero counts as not set, as in stock tools. Unlike them, this
// package also returns a warning for it.
func (c *Config) addVariables(e Environment) hcl.Diagnostics {
	for _, entry := range e.Variables {
		name, token, _ := strings.Cut(entry, "=")
		encoded, ok := strings.CutPrefix(name, tokenPrefix)
		if !ok {
			continue
		}
		if host, err := addrs.ParseHostname(decodeHost(encoded)); err == nil {
			c.environ[host] = credentials{token: secret.New(token), place: Place{PlaceVariable, name}}
		}
	}
	var diags hcl.Diagnostics
	positive := func(name string, limit int) int {
		value := e.lookup(name)
		n, err := strconv.Atoi(value)
		if err == nil && 0 < n && n <= limit {
			return n
		}
		if value != "" {
			diags = append(diags, &hcl.Diagnostic{
				Severity: hcl.DiagWarning,
				Summary:  fmt.Sprintf("%s is ignored", name),
				Detail:   fmt.Sprintf("Its value must be a whole number from 1 to %d.", limit),
			})
		}
		return 0
	}
	c.Retries = positive(retryVariable, maxRetries)
	c.Timeout = time.Duration(positive(timeoutVariable, maxTimeout)) * time.Second
	c.Providers.downloadRetries = positive(downloadRetryVariable, maxRetries)
	c.Providers.PluginCacheDir = e.lookup(pluginCacheVariable)
	mayBreak := e.lookup(pluginCacheMayBreakVariable)
	c.Providers.PluginCacheMayBreakLock = mayBreak != "" && mayBreak != "0"
	return diags
}

// decodeHost decodes a host in the name of a variable. Most shells allow only letters,
// digits and underscores there.
func decodeHost(encoded string) string {
	host := strings.ReplaceAll(encoded, "__", "-")
	host = strings.ReplaceAll(host, "_", ".")
	name, port, hasPort := strings.Cut(host, ":")
	// Names of variables must use punycode, which addresses never do.
	if unicode, err := idna.ToUnicode(name); err == nil {
		name = unicode
	}
	if hasPort {
		name += ":" + port
	}
	return name
}
