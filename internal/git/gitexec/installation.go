package gitexec

import (
	"context"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/addrs"
)

// Installation is the git that is installed, for reports.
type Installation struct {
	// Path is the program, and Version what it says of itself, without "git version".
	Path, Version string
	// Settings are those of the user's and the system's configuration that decide how
	// git asks servers, in the order of git.
	Settings []Setting
}

// Setting is one setting. Values that may have secrets are left out.
type Setting struct {
	// Name is in lower case but for its subsection, as in url.https://a/.insteadof.
	Name string
	// Value is "" if it may have a secret.
	Value string
}

// TurnsOffVerification reports whether git accepts any certificate by the setting.
func (s Setting) TurnsOffVerification() bool {
	off := s.Value == "false" || s.Value == "0" || s.Value == "no" || s.Value == "off"
	return off && strings.HasPrefix(s.Name, "http.") && strings.HasSuffix(s.Name, ".sslverify")
}

// Inspect asks the program for its version and its configuration. An error over ErrNoGit
// says that there is no usable git. One about the configuration comes with the rest.
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

// shown are the keys of the section http whose values have no secrets.
var shown = [...]string{"followredirects", "sslbackend", "sslcainfo", "sslcapath", "sslverify", "version"}

// reported returns a setting as a report has it, and whether it belongs there.
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

// helperName is the first word of a helper, without its arguments. A command for the shell
// is not shown, since it may have a token in it.
func helperName(value string) string {
	if strings.HasPrefix(value, "!") {
		return "a shell command"
	}
	word, _, _ := strings.Cut(value, " ")
	return word
}
