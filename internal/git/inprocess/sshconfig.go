package inprocess

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/kevinburke/ssh_config"

	"github.com/cotterpin/cotter/internal/atomicfile"
)

// SSH has the user's data for logging in to ssh servers.
type SSH struct {
	// Home is the user's home directory, with the user's configuration, keys and known hosts.
	// "" means that there is none.
	Home string
	// AgentSocket is the path of the socket of the user's ssh agent. "" means that there is
	// none.
	AgentSocket string
	// Key is a private key to offer first; nil if there is none.
	Key []byte
}

// systemConfig is the ssh configuration for all users; see ssh(1).
const systemConfig = "/etc/ssh/ssh_config"

// Limits for the configuration that is read for one host.
const (
	maxConfigBytes = 1 << 20 // of all files together
	maxConfigFiles = 256
	maxConfigLine  = 2 << 10
	maxIncludes    = 16 // nesting depth, as in OpenSSH
)

// includeKeyword replaces Include in the text for the library, so that this package handles the
// lines. The library looks for files in the home directory of the account, not in [SSH].Home,
// and has no limits.
const includeKeyword = "X-Include"

// hostSettings are the settings for one host. If the files have several values for a setting,
// the first one applies.
type hostSettings struct {
	// values are the settings by keyword, in lower case.
	values map[string]string
	// identityFiles are the values of all IdentityFile lines.
	identityFiles []string
	// proxy is ProxyJump or ProxyCommand, whichever comes first; "" if neither is set.
	proxy string
}

// settingsOf returns the settings for a host in the user's and the system's configuration. host
// is the name in the address.
func (s SSH) settingsOf(ctx context.Context, host string) (*hostSettings, error) {
	r := &configReader{ctx: ctx, host: host, home: s.Home, bytes: maxConfigBytes, found: &hostSettings{values: map[string]string{}}}
	if s.Home != "" {
		dir := filepath.Join(s.Home, ".ssh")
		if err := r.read(filepath.Join(dir, "config"), dir, 0); err != nil {
			return nil, err
		}
	}
	if err := r.read(systemConfig, filepath.Dir(systemConfig), 0); err != nil {
		return nil, err
	}
	return r.found, nil
}

// configReader collects the settings of one host.
type configReader struct {
	ctx   context.Context
	host  string
	home  string
	bytes int64 // the number of bytes that may still be read
	files int   // the number of files read so far
	found *hostSettings
}

// read reads a file, if it exists. Relative names of included files are relative to dir.
func (r *configReader) read(name, dir string, depth int) error {
	if r.files++; r.files > maxConfigFiles || depth > maxIncludes {
		return failure(Unsupported, "the ssh configuration includes too many files: %s", printable(name))
	}
	text, err := atomicfile.ReadUser(r.ctx, name, r.bytes)
	switch {
	case atomicfile.IsAbsent(err):
		return nil
	case err != nil && r.ctx.Err() != nil:
		return r.ctx.Err()
	case err != nil:
		return &Error{Kind: Unsupported, Message: "the ssh configuration cannot be read", Err: err}
	}
	r.bytes -= int64(len(text))
	config, err := parseConfig(text)
	if err != nil {
		return failure(Unsupported, "the ssh configuration %s cannot be read: %s", printable(name), printable(err.Error()))
	}
	return r.apply(config, dir, depth)
}

// apply adds the settings of all blocks that match the host.
func (r *configReader) apply(config *ssh_config.Config, dir string, depth int) error {
	for _, block := range config.Hosts {
		if !block.Matches(r.host) {
			continue
		}
		for _, node := range block.Nodes {
			line, ok := node.(*ssh_config.KV)
			if !ok || line.Value == "" {
				continue
			}
			if line.Key == includeKeyword {
				if err := r.include(line.Value, dir, depth); err != nil {
					return err
				}
				continue
			}
			r.found.set(line.Key, line.Value)
		}
	}
	return nil
}

// include reads the files of an Include line.
func (r *configReader) include(patterns, dir string, depth int) error {
	for _, pattern := range strings.Fields(strings.ReplaceAll(patterns, `"`, "")) {
		pattern = inHome(pattern, r.home)
		if !filepath.IsAbs(pattern) {
			pattern = filepath.Join(dir, pattern)
		}
		names, err := filepath.Glob(pattern)
		if err != nil {
			return failure(Unsupported, "the ssh configuration includes %s: %s", printable(pattern), err)
		}
		for _, name := range names {
			if info, err := os.Stat(name); err == nil && info.IsDir() {
				continue // as in OpenSSH
			}
			if err := r.read(name, dir, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

func (h *hostSettings) set(keyword, value string) {
	switch key := strings.ToLower(keyword); key {
	case "identityfile":
		h.identityFiles = append(h.identityFiles, value)
	case "proxyjump", "proxycommand":
		if h.proxy == "" {
			h.proxy = keyword
			h.values[key] = value
		}
	default:
		if _, ok := h.values[key]; !ok {
			h.values[key] = value
		}
	}
}

// usesProxy returns the keyword of the proxy setting, and whether the host needs a proxy.
func (h *hostSettings) usesProxy() (keyword string, ok bool) {
	return h.proxy, h.proxy != "" && !strings.EqualFold(h.values[strings.ToLower(h.proxy)], "none")
}

// parseConfig parses one file. It returns an error if the library panics.
func parseConfig(text []byte) (config *ssh_config.Config, err error) {
	plain, err := plainConfig(string(text))
	if err != nil {
		return nil, err
	}
	defer func() {
		if p := recover(); p != nil {
			config, err = nil, fmt.Errorf("it is malformed: %v", p)
		}
	}()
	return ssh_config.DecodeBytes(plain)
}

// plainConfig rewrites a file for the library: each line has one keyword, one space and a
// value, and there are no comment lines. It leaves out Match blocks other than "Match all",
// because they depend on more than the host's name or run programs.
func plainConfig(text string) ([]byte, error) {
	var plain bytes.Buffer
	leaveOut := false
	for number, line := range strings.Split(strings.ToValidUTF8(text, "?"), "\n") {
		keyword, value := directive(line)
		if keyword == "" || keyword[0] == '#' {
			continue
		}
		if len(line) > maxConfigLine {
			return nil, fmt.Errorf("line %d has more than %d bytes", number+1, maxConfigLine)
		}
		switch strings.ToLower(keyword) {
		case "host":
			if value = strings.Join(strings.Fields(strings.ReplaceAll(value, `"`, "")), " "); value == "" {
				return nil, fmt.Errorf("line %d: Host without a name", number+1)
			}
			leaveOut = false
		case "match":
			leaveOut = !matchesAll(value)
			keyword, value = "Host", "*"
		case "include":
			keyword = includeKeyword
		}
		if !leaveOut && value != "" {
			fmt.Fprintf(&plain, "%s %s\n", keyword, value)
		}
	}
	return plain.Bytes(), nil
}

// directive splits a line at the space or the equals sign after the keyword.
func directive(line string) (keyword, value string) {
	line = strings.TrimSpace(line)
	end := strings.IndexAny(line, " \t=")
	if end < 0 {
		return line, ""
	}
	value = strings.TrimLeft(line[end:], " \t")
	return line[:end], strings.TrimLeft(strings.TrimPrefix(value, "="), " \t")
}

// matchesAll reports whether the criteria of a Match line are "all".
func matchesAll(criteria string) bool {
	criteria, _, _ = strings.Cut(criteria, "#")
	return strings.EqualFold(strings.TrimSpace(criteria), "all")
}

// inHome expands a leading "~/".
func inHome(name, home string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok && home != "" {
		return filepath.Join(home, rest)
	}
	return name
}
