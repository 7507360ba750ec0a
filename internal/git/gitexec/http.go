package gitexec

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/procgroup"
)

// maxConfig bounds the size of the user's git configuration, in bytes. Usually it has a few KiB
// at most.
const maxConfig = 1 << 20

// HTTPSettings are the settings for http requests in the user's git configuration and
// environment. They decide whether requests can be sent without git. Whoever sends them must
// neither ignore a setting of the user nor send data that is intended for git.
type HTTPSettings struct {
	// CAFile has the certificates of the authorities to trust instead of the system's
	// (http.sslCAInfo, GIT_SSL_CAINFO); "" if it is not set.
	CAFile string
	// Proxy is set if the environment names a proxy for http or https.
	Proxy bool
	// AllProxy is set if the environment names a proxy for all protocols, which net/http does not use.
	AllProxy bool

	env     []string
	special []string // names of the settings for all addresses
	hosts   []hostSetting
	instead []insteadOf
	staying []string // hosts whose redirects git must not follow; "" means all hosts
}

// hostSetting is a setting for one host. The host "" means that the host could not be
// determined.
type hostSetting struct{ host, name string }

// HTTPSettings returns the settings. It reads them only once. Without a usable git, they are
// only those of the environment.
func (g *Git) HTTPSettings(ctx context.Context) (*HTTPSettings, error) {
	g.httpOnce.Do(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), probeTimeout)
		defer cancel()
		g.http, g.httpErr = g.readHTTPSettings(ctx)
	})
	return g.http, g.httpErr
}

func (g *Git) readHTTPSettings(ctx context.Context) (*HTTPSettings, error) {
	s := &HTTPSettings{env: g.environ()}
	switch found, err := g.find(ctx); {
	case errors.Is(err, ErrNoGit):
		if s.hasConfigFiles() {
			s.special = append(s.special, "a git configuration, which only git can read")
		}
	case err != nil:
		return nil, err
	case found.configErr != nil:
		return nil, found.configErr
	default:
		s.readConfig(found.config)
	}
	s.readEnvironment()
	return s, nil
}

// Plain reports whether no setting concerns requests to u, except those in the exported fields.
func (s *HTTPSettings) Plain(u *url.URL) bool { return s.Concerning(u) == "" }

// Concerning returns the name of the first setting that concerns requests to u, or "" if there
// is none. Settings in the exported fields do not count. The value of the setting is not
// returned, because it may be secret.
func (s *HTTPSettings) Concerning(u *url.URL) string {
	if len(s.special) > 0 {
		return s.special[0]
	}
	host := strings.ToLower(u.Hostname())
	for _, setting := range s.hosts {
		if setting.host == "" || setting.host == host {
			return setting.name
		}
	}
	if allowed(s.env, []string{u.Scheme}) != u.Scheme {
		return "GIT_ALLOW_PROTOCOL"
	}
	return ""
}

// followsRedirects reports whether the user allows git to follow redirects of u, which is the
// default.
func (s *HTTPSettings) followsRedirects(u *url.URL) bool {
	return !slices.Contains(s.staying, "") && !slices.Contains(s.staying, strings.ToLower(u.Hostname()))
}

func (s *HTTPSettings) readConfig(config []setting) {
	for _, entry := range config {
		switch {
		case entry.section == "url" && entry.key == "insteadof" && entry.hasValue:
			s.addInsteadOf(insteadOf{base: entry.sub, prefix: entry.value})
		case entry.section == "http":
			s.readHTTP(entry.sub, entry.key, entry.value)
		}
	}
}

// harmless are the keys of the section http that do not affect which data is sent and which
// servers are trusted. They only affect how git sends its requests, or how it reacts if a
// server demands credentials.
var harmless = [...]string{
	"delegation", "emptyauth", "lowspeedlimit", "lowspeedtime", "maxrequests", "maxretries", "maxretrytime", "minsessions",
	"noepsv", "postbuffer", "retryafter", "schannelcheckrevoke", "schannelusesslcainfo", "sslbackend", "version",
}

// readHTTP evaluates one key of the section http. If the subsection sub is not "", the key
// applies only to that address.
func (s *HTTPSettings) readHTTP(sub, key, value string) {
	if key == "followredirects" && value == "false" {
		s.staying = append(s.staying, hostOf(sub))
	}
	switch {
	case slices.Contains(harmless[:], key),
		key == "sslverify" && value == "true",
		key == "followredirects" && value != "false":
	case sub != "":
		s.hosts = append(s.hosts, hostSetting{hostOf(sub), "http." + key + " for a host"})
	case key == "sslcainfo" && filepath.IsAbs(value):
		s.CAFile = value
	default:
		s.special = append(s.special, "http."+key)
	}
}

// hostOf returns the host of an address that settings are limited to. It returns "" if there
// may be several hosts.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || strings.Contains(u.Host, "*") {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// concerning are prefixes of the names of environment variables that change git's requests, or
// that print them for the user.
var concerning = [...]string{"GIT_SSL_", "GIT_HTTP_", "GIT_PROXY_", "GIT_CURL_", "GIT_TRACE"}

func (s *HTTPSettings) readEnvironment() {
	for _, entry := range s.env {
		name, value, _ := strings.Cut(entry, "=")
		name = strings.ToUpper(name)
		switch {
		case value == "" || slices.Contains(dropped[:], name):
		case name == "GIT_SSL_CAPATH" && isEmptyDir(value): // adds no authorities
		case name == "GIT_SSL_CAINFO":
			s.CAFile = value
		case name == "HTTP_PROXY", name == "HTTPS_PROXY":
			s.Proxy = true
		case name == "ALL_PROXY":
			s.AllProxy = true
		case slices.ContainsFunc(concerning[:], func(prefix string) bool { return strings.HasPrefix(name, prefix) }):
			s.special = append(s.special, name)
		}
	}
}

func isEmptyDir(name string) bool {
	entries, err := os.ReadDir(name)
	return err == nil && len(entries) == 0
}

// hasConfigFiles reports whether there is a configuration that a git would read. It is used if
// there is no git to read it.
func (s *HTTPSettings) hasConfigFiles() bool {
	var files []string
	if _, without := procgroup.Lookup(s.env, "GIT_CONFIG_NOSYSTEM"); !without {
		files = append(files, "/etc/gitconfig")
	}
	if home, ok := procgroup.Lookup(s.env, "HOME"); ok {
		files = append(files, filepath.Join(home, ".gitconfig"), filepath.Join(home, ".config", "git", "config"))
	}
	if dir, ok := procgroup.Lookup(s.env, "XDG_CONFIG_HOME"); ok {
		files = append(files, filepath.Join(dir, "git", "config"))
	}
	for _, name := range [...]string{"GIT_CONFIG_COUNT", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_SYSTEM"} {
		if _, set := procgroup.Lookup(s.env, name); set {
			return true
		}
	}
	return runtime.GOOS == "windows" || slices.ContainsFunc(files, func(file string) bool {
		_, err := os.Stat(file)
		return err == nil
	})
}
