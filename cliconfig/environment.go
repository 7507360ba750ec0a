package cliconfig

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"golang.org/x/net/idna"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/text/sanitize"
)

// Environment is the part of a process's environment that determines which files and programs are used. The
// zero value finds nothing.
type Environment struct {
	// Variables are as from os.Environ. Helper programs get all of them.
	Variables []string
	// Home is the user's home directory; "" for a user without one.
	Home string
	// GOOS is the operating system whose conventions apply; "" means runtime.GOOS.
	GOOS string
}

// OSEnvironment returns the environment of this process.
func OSEnvironment() Environment {
	home, _ := os.UserHomeDir() // without a home directory, no files are looked for in it
	return Environment{Variables: os.Environ(), Home: home}
}

// CacheDir returns the directory in which the cotter command keeps packages: COTTER_CACHE_DIR, or else
// "cotter" in os.UserCacheDir; "" if that is not known. It need not exist. In COTTER_CACHE_DIR, "{uid}"
// stands for the number of the user, so that users can have directories below one; Windows has no such
// numbers.
func (e Environment) CacheDir() string {
	if dir := e.lookup("COTTER_CACHE_DIR"); dir != "" {
		return withUserID(dir)
	}
	return in(e.userCacheDir(), "cotter")
}

func withUserID(dir string) string {
	id := os.Getuid()
	if id < 0 { // Windows
		return dir
	}
	return strings.ReplaceAll(dir, "{uid}", strconv.Itoa(id))
}

func (e Environment) userCacheDir() string {
	switch xdg := e.lookup("XDG_CACHE_HOME"); {
	case e.windows():
		return e.lookup("LocalAppData")
	case e.goos() == "darwin":
		return in(e.Home, "Library", "Caches")
	case xdg == "":
		return in(e.Home, ".cache")
	case filepath.IsAbs(xdg): // as in os.UserCacheDir
		return xdg
	}
	return ""
}

// StateDir returns the directory in which the cotter command keeps this user's state on this machine, such
// as the secret key that proves which files below .terraform it wrote itself. It is COTTER_STATE_DIR, with
// "{uid}" as in CacheDir, or else "cotter" in XDG_STATE_HOME if that is absolute, or else
// ~/.local/state/cotter (%LocalAppData%\cotter on Windows); "" without a home directory. It need not exist.
func (e Environment) StateDir() string {
	if dir := e.lookup("COTTER_STATE_DIR"); dir != "" {
		return withUserID(dir)
	}
	return in(e.userDir("XDG_STATE_HOME", "LocalAppData", ".local", "state"), "cotter")
}

// ConfigFile returns the file with the user's settings for the cotter command: COTTER_CONFIG_FILE, or else
// cotter/cotter.hcl in XDG_CONFIG_HOME if that is absolute, or else ~/.config/cotter/cotter.hcl
// (%AppData%\cotter\cotter.hcl on Windows); "" without a home directory. named says that the variable names
// the file, so that it must exist.
func (e Environment) ConfigFile() (name string, named bool) {
	if name := e.lookup("COTTER_CONFIG_FILE"); name != "" {
		return name, true
	}
	return in(e.userDir("XDG_CONFIG_HOME", "APPDATA", ".config"), "cotter", "cotter.hcl"), false
}

// userDir returns an absolute directory in a variable of the XDG specification, or else the one in a
// variable of Windows or in the home directory; "" without a home directory.
func (e Environment) userDir(xdg, windows string, home ...string) string {
	switch dir := e.lookup(xdg); {
	case filepath.IsAbs(dir):
		return dir
	case e.windows():
		return e.lookup(windows)
	case filepath.IsAbs(e.Home):
		return in(e.Home, home...)
	}
	return ""
}

func (e Environment) lookup(name string) string {
	for i := len(e.Variables) - 1; i >= 0; i-- { // the last entry counts, as in os/exec
		key, value, _ := strings.Cut(e.Variables[i], "=")
		if key == name || e.windows() && strings.EqualFold(key, name) {
			return value
		}
	}
	return ""
}

func (e Environment) goos() string { return cmp.Or(e.GOOS, runtime.GOOS) }

func (e Environment) windows() bool { return e.goos() == "windows" }

const (
	tokenPrefix     = "TF_TOKEN_"
	retryVariable   = "TF_REGISTRY_DISCOVERY_RETRY"
	timeoutVariable = "TF_REGISTRY_CLIENT_TIMEOUT"

	downloadRetryVariable       = "TF_PROVIDER_DOWNLOAD_RETRY"
	pluginCacheVariable         = "TF_PLUGIN_CACHE_DIR"
	pluginCacheMayBreakVariable = "TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE"

	// maxRetries is enough for any outage that is worth waiting for.
	maxRetries = 100
	// maxTimeout is a day, in seconds.
	maxTimeout = 24 * 60 * 60
)

// addVariables adds the settings in variables. As in stock tools, it skips a token variable whose name does
// not encode a host, because other programs may use the prefix, and numbers that are not above zero, but it
// also warns of these.
func (c *Config) addVariables(e Environment) hcl.Diagnostics {
	for _, entry := range e.Variables {
		name, token, _ := strings.Cut(entry, "=")
		encoded, ok := strings.CutPrefix(name, tokenPrefix)
		if !ok {
			continue
		}
		if host, err := addrs.ParseHostname(decodeHost(encoded)); err == nil {
			c.environ[host] = credentials{token: sanitize.NewSecret(token), place: Place{PlaceVariable, name}}
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
	attempts := func(name string) int {
		if n := positive(name, maxRetries); n > 0 {
			return n + 1
		}
		return 0
	}
	c.Attempts = attempts(retryVariable)
	c.Timeout = time.Duration(positive(timeoutVariable, maxTimeout)) * time.Second
	c.Providers.downloadAttempts = attempts(downloadRetryVariable)
	c.Providers.PluginCacheDir = e.lookup(pluginCacheVariable)
	mayBreak := e.lookup(pluginCacheMayBreakVariable)
	c.Providers.PluginCacheMayBreakLock = mayBreak != "" && mayBreak != "0"
	return diags
}

// decodeHost decodes a host in the name of a variable, where most shells allow only letters, digits and
// "_".
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
