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

// maxConfig bounds the user's git configuration, for which a few KiB are much.
const maxConfig = 1 << 20

// HTTPSettings is what the user's git configuration and environment say about
// requests by http, as far as it decides whether somebody else than git can
// make them: whoever does must neither leave out what the user set nor send
// what belongs to git.
type HTTPSettings struct {
	// CAFile holds the certificates of the authorities to trust in place of the
	// system's (http.sslCAInfo, GIT_SSL_CAINFO); "" where none is set.
	CAFile string
	// Proxy says that the environment names a proxy for http or https.
	Proxy bool

	env     []string
	special []string // names of what is set for all addresses
	hosts   []hostSetting
	instead []string // prefixes of addresses that git replaces
	staying []string // hosts whose redirects git is not to follow; "" means all
}

// hostSetting is a setting for one host. The host "" is one that is not clear.
type hostSetting struct{ host, name string }

// HTTPSettings reads the settings, once. Without a usable git they are those of
// the environment.
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
			s.special = append(s.special, "a configuration of git, which only git can read")
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

// Plain reports whether nothing is set that concerns requests to u, beyond the
// exported fields.
func (s *HTTPSettings) Plain(u *url.URL) bool { return s.Concerning(u) == "" }

// Concerning returns the name of the first setting that concerns requests to u, beyond
// the exported fields, or "". It leaves out the setting's value, which may be secret.
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
	switch {
	case slices.ContainsFunc(s.instead, func(prefix string) bool { return strings.HasPrefix(u.String(), prefix) }):
		return "url.insteadOf"
	case allowed(s.env, []string{u.Scheme}) != u.Scheme:
		return "GIT_ALLOW_PROTOCOL"
	}
	return ""
}

// followsRedirects reports whether the user lets git follow redirects of u, as it
// does by default.
func (s *HTTPSettings) followsRedirects(u *url.URL) bool {
	return !slices.Contains(s.staying, "") && !slices.Contains(s.staying, strings.ToLower(u.Hostname()))
}

// readConfig reads the output of git config --list -z: names, each with a
// newline and a value behind it unless it has none, all ended by a zero byte.
func (s *HTTPSettings) readConfig(out string) {
	for entry := range strings.SplitSeq(out, "\x00") {
		name, value, _ := strings.Cut(entry, "\n")
		section, rest, _ := strings.Cut(name, ".")
		dot := strings.LastIndexByte(rest, '.')
		sub, key := rest[:max(0, dot)], rest[dot+1:]
		switch {
		case section == "url" && key == "insteadof":
			s.instead = append(s.instead, value)
		case section == "http":
			s.readHTTP(sub, key, value)
		}
	}
}

// harmless are the keys of the section http that say how git makes its
// requests, or what it does when credentials are wanted, and leave alone what
// is sent and who is trusted.
var harmless = [...]string{
	"delegation", "emptyauth", "lowspeedlimit", "lowspeedtime", "maxrequests", "maxretries", "maxretrytime", "minsessions",
	"noepsv", "postbuffer", "retryafter", "schannelcheckrevoke", "schannelusesslcainfo", "sslbackend", "version",
}

// readHTTP reads one key of the section http. The subsection is an address to
// which it is limited; "" means all.
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

// hostOf is the host of an address to which settings are limited; "" if that
// may be several.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || strings.Contains(u.Host, "*") {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// concerning are beginnings of the names of variables that change git's
// requests, or that show them to the user.
var concerning = [...]string{"GIT_SSL_", "GIT_HTTP_", "GIT_PROXY_", "GIT_CURL_", "GIT_TRACE", "ALL_PROXY"}

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
		case slices.ContainsFunc(concerning[:], func(prefix string) bool { return strings.HasPrefix(name, prefix) }):
			s.special = append(s.special, name)
		}
	}
}

func isEmptyDir(name string) bool {
	entries, err := os.ReadDir(name)
	return err == nil && len(entries) == 0
}

// hasConfigFiles reports whether there is a configuration that a git would
// read. It is asked where no git is there to do so.
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
