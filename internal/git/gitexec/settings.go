package gitexec

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/internal/git/gitdir"
	"github.com/cotterpin/cotter/internal/net/hostname"
	"github.com/cotterpin/cotter/internal/process/procgroup"
)

// maxConfig bounds the user's git configuration, in bytes. Usually it has a few KiB.
const maxConfig = 1 << 20

type setting struct {
	// section and key are in lower case.
	section, sub, key string
	value             string
	// hasValue is false for a key without "=", which is a true boolean.
	hasValue bool
}

// parseSettings parses "git config --list -z": a name, a newline before the value if there is one, and
// a zero byte.
func parseSettings(list string) []setting {
	var all []setting
	for _, entry := range SplitNames(list) {
		var s setting
		var name, rest string
		name, s.value, s.hasValue = strings.Cut(entry, "\n")
		s.section, rest, _ = strings.Cut(name, ".")
		dot := strings.LastIndexByte(rest, '.')
		s.sub, s.key = rest[:max(0, dot)], rest[dot+1:]
		all = append(all, s)
	}
	return all
}

func (s setting) isTrue() bool { return !s.hasValue || gitdir.IsTrue(s.value) }

// Settings are what the user's git configuration and environment say about requests to servers. Git lists
// them outside of any repository: the configuration of a checkout or a cache does not count.
type Settings struct {
	env []string
	// remote is that of the repository, if the configuration depends on it, and otherwise "".
	remote string
	// home is what "~" stands for; "" if it is not known.
	home string
	// http are in git's order.
	http    []httpSetting
	instead []insteadOf
	// named are the hosts in URLs of settings, with the port if there is one.
	named []urlPattern
	// useHTTPPath is set if credentials may depend on the path of a repository.
	useHTTPPath bool
	// onlyGit names what concerns all requests and only git can apply; "" if there is nothing.
	onlyGit string
}

// httpSetting is for all URLs if its subsection is "".
type httpSetting struct {
	setting
	pattern urlPattern
}

// Settings returns those for the repository at a remote, as it is configured. They are read once. Without a usable
// git, they are only those of the environment.
func (g *Git) Settings(ctx context.Context, remote string) (*Settings, error) {
	found, err := g.findFor(ctx, remote)
	read, _ := g.settings.LoadOrStore(found.remote, sync.OnceValues(func() (*Settings, error) { return g.readSettings(found, err) }))
	return read.(func() (*Settings, error))()
}

func (g *Git) readSettings(found program, err error) (*Settings, error) {
	s := &Settings{env: g.Environ(), remote: found.remote}
	s.home, _ = procgroup.Lookup(s.env, "HOME")
	switch {
	case errors.Is(err, ErrNoGit):
		if s.hasConfigFiles() {
			s.onlyGit = "a git configuration, which only git can read"
		}
	case err != nil:
		return nil, err
	case found.configErr != nil:
		return nil, found.configErr
	default:
		s.read(found.config)
	}
	s.readEnvironment()
	return s, nil
}

func (s *Settings) read(config []setting) {
	for _, entry := range config {
		pattern, isPattern := parseURLPattern(entry.sub)
		switch {
		case entry.section == "url" && entry.key == "insteadof" && entry.hasValue:
			s.addInsteadOf(insteadOf{base: entry.sub, prefix: entry.value})
		case entry.section == "credential" && entry.key == "usehttppath":
			s.useHTTPPath = s.useHTTPPath || entry.isTrue()
		case entry.section == "http" && (entry.sub == "" || isPattern):
			s.http = append(s.http, httpSetting{entry, pattern})
		}
		if condition, ok := strings.CutPrefix(entry.sub, hasConfig); ok && entry.section == "includeif" {
			s.addCondition(condition)
		}
		if isPattern && (entry.section == "http" || entry.section == "credential" || entry.section == "url") {
			s.named = append(s.named, pattern)
		}
	}
}

// addCondition adds the host of a pattern for remotes, if the pattern has the whole host and fits up to its first
// wildcard.
func (s *Settings) addCondition(glob string) {
	if i := strings.IndexAny(glob, `*?[\`); i >= 0 {
		glob = glob[:i]
	}
	if pattern, ok := parseURLPattern(glob); ok && endOfHost(glob) < len(glob) && strings.HasPrefix(s.remote, glob) {
		s.named = append(s.named, pattern)
	}
}

// concerning are prefixes of variables that change git's requests, or print them.
var concerning = [...]string{"GIT_SSL_", "GIT_HTTP_", "GIT_PROXY_", "GIT_CURL_", "GIT_TRACE"}

// applied are those that have the meaning of a setting.
var applied = [...]string{"GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_SSL_CERT", "GIT_SSL_KEY", "GIT_SSL_NO_VERIFY", "GIT_HTTP_USER_AGENT"}

func (s *Settings) readEnvironment() {
	for _, entry := range s.env {
		name, value, _ := strings.Cut(entry, "=")
		name = strings.ToUpper(name)
		if value == "" || slices.Contains(dropped[:], name) || slices.Contains(applied[:], name) {
			continue
		}
		if slices.ContainsFunc(concerning[:], func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
			s.onlyGit = cmp.Or(s.onlyGit, name)
		}
	}
}

// Name reports whether the user's settings name the host of a URL, with its port.
func (s *Settings) Name(u *url.URL) bool {
	return slices.ContainsFunc(s.named, func(p urlPattern) bool {
		return !strings.Contains(p.host, "*") && hostname.Canonical(p.host) == hostname.Canonical(u.Hostname()) &&
			p.port == normalPort(strings.ToLower(u.Scheme), u.Port())
	})
}

func (s *Settings) resolves() bool {
	return slices.ContainsFunc(s.http, func(entry httpSetting) bool { return entry.key == "curloptresolve" })
}

// harmless are keys of the section http that affect neither what is sent nor which servers are trusted.
var harmless = [...]string{
	"delegation", "emptyauth", "lowspeedlimit", "lowspeedtime", "maxrequests", "maxretries", "maxretrytime", "minsessions",
	"noepsv", "postbuffer", "retryafter", "schannelcheckrevoke", "schannelusesslcainfo", "sslbackend", "version",
}

var secret = [...]string{"extraheader", "sslcert", "sslkey"}

type HTTP struct {
	Connection       Connection
	Header           []string
	UserAgent        string
	StaysAtRedirects bool
	// OnlyGit names a setting that only git can apply. Its value may be secret.
	OnlyGit string
	// Withheld names a setting with a credential that names no URL and does not count.
	Withheld string
}

// For returns the settings that git would apply to a URL. Headers and client certificates that name no
// URL count only for a host that the root module (named) or the settings ([Settings.Name]) name.
func (s *Settings) For(u *url.URL, named bool) HTTP {
	h := HTTP{OnlyGit: s.onlyGit}
	if allowed(s.env, []string{u.Scheme}) != u.Scheme {
		h.OnlyGit = cmp.Or(h.OnlyGit, "GIT_ALLOW_PROTOCOL")
	}
	named = named || s.Name(u)
	best := map[string]urlMatch{}
	for _, entry := range s.http {
		var match urlMatch
		if entry.sub != "" {
			var ok bool
			if match, ok = entry.pattern.match(u); !ok {
				continue
			}
		}
		if before, seen := best[entry.key]; seen && match.isWorseThan(before) {
			continue
		}
		best[entry.key] = match
		if entry.sub == "" && !named && entry.value != "" && slices.Contains(secret[:], entry.key) {
			h.Withheld = cmp.Or(h.Withheld, "http."+entry.key)
			continue
		}
		if entry.value == "" && h.Withheld == "http."+entry.key {
			h.Withheld = "" // a later value removes it
		}
		s.apply(&h, entry.setting)
	}
	s.applyEnvironment(&h, named)
	return h
}

// apply adds one setting. A later value replaces an earlier one, except for headers.
func (s *Settings) apply(h *HTTP, entry setting) {
	c := &h.Connection
	files := map[string]*string{"sslcainfo": &c.CAFile, "sslcapath": &c.CADir, "sslcert": &c.Certificate, "sslkey": &c.Key}
	switch file, isFile := files[entry.key]; {
	case isFile:
		name, ok := s.expand(entry.value)
		if *file = name; !ok {
			h.OnlyGit = "http." + entry.key
		}
	case entry.key == "extraheader" && entry.value == "":
		h.Header = nil
	case entry.key == "extraheader":
		h.Header = append(h.Header, entry.value)
	case entry.key == "useragent":
		h.UserAgent = entry.value
	case entry.key == "proxy":
		c.Proxy, c.HasProxy = entry.value, true
	case entry.key == "sslverify":
		c.AnyCertificate = !entry.isTrue()
	case entry.key == "followredirects":
		h.StaysAtRedirects = entry.value != "initial" && !entry.isTrue()
	case !slices.Contains(harmless[:], entry.key):
		h.OnlyGit = "http." + entry.key
	}
}

func (s *Settings) expand(name string) (string, bool) {
	if rest, ok := strings.CutPrefix(name, "~/"); ok && s.home != "" {
		return filepath.Join(s.home, filepath.FromSlash(rest)), true
	}
	return name, name == "" || filepath.IsAbs(name)
}

// applyEnvironment adds what takes precedence over the configuration.
func (s *Settings) applyEnvironment(h *HTTP, named bool) {
	get := func(name string) string {
		value, _ := procgroup.Lookup(s.env, name)
		return value
	}
	c := &h.Connection
	c.CAFile = cmp.Or(get("GIT_SSL_CAINFO"), c.CAFile)
	if dir := get("GIT_SSL_CAPATH"); dir != "" && !isEmptyDir(dir) { // an empty one adds no authorities
		c.CADir = dir
	}
	h.UserAgent = cmp.Or(get("GIT_HTTP_USER_AGENT"), h.UserAgent)
	c.AnyCertificate = c.AnyCertificate || get("GIT_SSL_NO_VERIFY") != ""
	switch certificate := get("GIT_SSL_CERT"); {
	case named:
		c.Certificate, c.Key = cmp.Or(certificate, c.Certificate), cmp.Or(get("GIT_SSL_KEY"), c.Key)
	case certificate != "":
		h.Withheld = "GIT_SSL_CERT"
	}
}

func isEmptyDir(name string) bool {
	entries, err := os.ReadDir(name)
	return err == nil && len(entries) == 0
}

// hasConfigFiles reports whether a git would read a configuration, if there is none to read it.
func (s *Settings) hasConfigFiles() bool {
	var files []string
	if _, without := procgroup.Lookup(s.env, "GIT_CONFIG_NOSYSTEM"); !without {
		files = append(files, "/etc/gitconfig")
	}
	if s.home != "" {
		files = append(files, filepath.Join(s.home, ".gitconfig"), filepath.Join(s.home, ".config", "git", "config"))
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
