package gitexec

import (
	"context"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/addrs"
)

// Installation describes the installed git, for reports.
type Installation struct {
	// Path is the path of the program. Version is the version that it reports, without the
	// prefix "git version".
	Path, Version string
	// Settings are the settings in the user's and the system's configuration that affect git's
	// requests to servers. They are in the order in which git lists them.
	Settings []Setting
}

// Setting is one setting. Values that may contain secrets are left out.
type Setting struct {
	// Name is in lower case, except for its subsection, as in url.https://a/.insteadof.
	Name string
	// Value is "" if it may contain a secret.
	Value string
}

// TurnsOffVerification reports whether the setting makes git accept any certificate.
func (s Setting) TurnsOffVerification() bool {
	off := s.Value == "false" || s.Value == "0" || s.Value == "no" || s.Value == "off"
	return off && strings.HasPrefix(s.Name, "http.") && strings.HasSuffix(s.Name, ".sslverify")
}

// Inspect returns the version and the configuration of the program. The error wraps ErrNoGit if
// there is no usable git. If the configuration cannot be read, Inspect returns the rest
// together with the error.
func (g *Git) Inspect(ctx context.Context) (Installation, error) {
	found, err := g.find(ctx)
	if err != nil {
		return Installation{}, err
	}
	out, err := g.output(ctx, found, Command{Args: []string{"version"}}, maxProbeOutput)
	if err != nil {
		return Installation{}, err
	}
	i := Installation{Path: found.path, Version: strings.TrimPrefix(strings.TrimSpace(string(out)), "git version ")}
	for entry := range strings.SplitSeq(found.config, "\x00") {
		name, value, _ := strings.Cut(entry, "\n")
		if s, ok := reported(name, value); ok {
			i.Settings = append(i.Settings, s)
		}
	}
	return i, found.configErr
}

// shown are the keys of the section http whose values contain no secrets.
var shown = [...]string{"followredirects", "sslbackend", "sslcainfo", "sslcapath", "sslverify", "version"}

// reported returns a setting in the form for a report, and whether the report includes it.
func reported(name, value string) (Setting, bool) {
	section, rest, _ := strings.Cut(name, ".")
	dot := strings.LastIndexByte(rest, '.')
	sub, key := rest[:max(0, dot)], rest[dot+1:]
	plainName := section + "." + key
	if sub != "" {
		plainName = section + "." + addrs.Redact(sub) + "." + key
	}
	switch {
	case section == "url" && key == "insteadof":
		return Setting{plainName, addrs.Redact(value)}, true
	case section == "http" && slices.Contains(shown[:], key):
		return Setting{plainName, value}, true
	case section == "http" && key == "proxy", section == "credential" && key == "helper":
		return Setting{plainName, helperName(addrs.Redact(value))}, true
	case section == "http" && !slices.Contains(harmless[:], key):
		return Setting{Name: plainName}, true
	case name == "core.sshcommand", name == "core.gitproxy":
		return Setting{Name: plainName}, true
	}
	return Setting{}, false
}

// helperName returns the first word of a helper, without its arguments. A shell command is not
// shown, because it may contain a token.
func helperName(value string) string {
	if strings.HasPrefix(value, "!") {
		return "a shell command"
	}
	word, _, _ := strings.Cut(value, " ")
	return word
}
