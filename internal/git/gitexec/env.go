package gitexec

import (
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/procgroup"
)

// dropped are variables that point git at another repository, change what its
// objects mean, or are meant for a process that git itself started.
// The user's key is nobody else's to know.
var dropped = [...]string{
	"COTTER_STATE_KEY",
	"GIT_ALLOW_PROTOCOL", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_ATTR_SOURCE",
	"GIT_COMMON_DIR", "GIT_CONFIG", "GIT_DEFAULT_HASH", "GIT_DEFAULT_REF_FORMAT",
	"GIT_DIR", "GIT_GRAFT_FILE", "GIT_IMPLICIT_WORK_TREE", "GIT_INDEX_FILE",
	"GIT_INTERNAL_SUPER_PREFIX", "GIT_NAMESPACE", "GIT_OBJECT_DIRECTORY",
	"GIT_PREFIX", "GIT_PROTOCOL", "GIT_PROTOCOL_FROM_USER", "GIT_QUARANTINE_PATH",
	"GIT_REF_STORAGE", "GIT_REPLACE_REF_BASE", "GIT_SHALLOW_FILE",
	"GIT_TEMPLATE_DIR", "GIT_TRACE_PACKET", "GIT_WORK_TREE",
	"COTTER_GIT_USERNAME", "COTTER_GIT_PASSWORD",
}

// userConfig are the variables that carry configuration from the user.
var userConfig = [...]string{
	"GIT_CONFIG_COUNT", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM",
	"GIT_CONFIG_PARAMETERS", "GIT_CONFIG_SYSTEM", "HOME", "XDG_CONFIG_HOME",
}

// environment is the environment of one command.
func (g *Git) environment(found program, c Command) []string {
	base := g.environ()
	env := procgroup.Without(slices.Clone(base), dropped[:]...)
	set := func(name, value string) { env = append(procgroup.Without(env, name), name+"="+value) }

	set("LC_ALL", "C")
	set("GIT_NO_REPLACE_OBJECTS", "1")
	set("GIT_NO_LAZY_FETCH", "1")
	set("GIT_OPTIONAL_LOCKS", "0")
	set("GIT_LFS_SKIP_SMUDGE", "1")
	if c.Repo != "" {
		// Named, so that git neither searches for a repository nor asks who
		// owns the directory around it.
		set("GIT_DIR", c.Repo)
	} else if c.Network != nil {
		// Nor may the configuration of a repository around the working
		// directory count, which an archive can have brought.
		set("GIT_DIR", nullFile)
	}
	if c.WorkTree != "" {
		set("GIT_WORK_TREE", c.WorkTree)
	}
	if !g.Interactive {
		set("GIT_TERMINAL_PROMPT", "0")
		set("GCM_INTERACTIVE", "never")
		set("SSH_ASKPASS_REQUIRE", "never")
		// Git falls back to this one for its own questions.
		env = procgroup.Without(env, "SSH_ASKPASS")
	}
	if c.Network == nil {
		env = procgroup.Without(env, userConfig[:]...)
		set("GIT_CONFIG_NOSYSTEM", "1")
		set("GIT_CONFIG_GLOBAL", nullFile)
		set("GIT_ATTR_NOSYSTEM", "1")
		// For a git older than 2.32, which does not know the one above.
		set("HOME", nullFile)
		set("XDG_CONFIG_HOME", nullFile)
		set("GIT_ALLOW_PROTOCOL", "none")
		return env
	}
	if _, own := procgroup.Lookup(base, "GIT_ALLOW_PROTOCOL"); own || c.Network.Direct == nil {
		set("GIT_ALLOW_PROTOCOL", allowed(base, slices.Concat(c.Network.Protocols, c.Network.Direct)))
	} // else the settings say it, which know of more than yes and no
	if c.Network.PacketTrace != "" {
		set("GIT_TRACE_PACKET", c.Network.PacketTrace)
	}
	if c.Network.HTTPTrace != "" {
		set("GIT_TRACE_CURL", c.Network.HTTPTrace)
		set("GIT_TRACE_CURL_NO_DATA", "1")
		set("GIT_TRACE_REDACT", "1")
	}
	env = append(env, c.Network.Secrets...)
	if ssh := g.sshCommand(found, c.Network); ssh != "" {
		set("GIT_SSH_COMMAND", ssh)
	}
	return env
}

// Getenv returns a variable of the environment that git gets; "" where it is
// not set.
func (g *Git) Getenv(name string) string {
	value, _ := procgroup.Lookup(g.environ(), name)
	return value
}

// Allowed returns those of the protocols that the user's GIT_ALLOW_PROTOCOL
// does not exclude.
func (g *Git) Allowed(protocols []string) []string {
	return strings.Split(allowed(g.environ(), protocols), ":")
}

// allowed is the list of protocols, narrowed by the one that the user has.
func allowed(base, protocols []string) string {
	protocols = slices.Clone(protocols)
	if own, ok := procgroup.Lookup(base, "GIT_ALLOW_PROTOCOL"); ok {
		names := strings.Split(own, ":")
		protocols = slices.DeleteFunc(protocols, func(p string) bool { return !slices.Contains(names, p) })
	}
	if len(protocols) == 0 {
		return "none" // "" would be no restriction to some versions
	}
	return strings.Join(protocols, ":")
}

// sshCommand is the value for GIT_SSH_COMMAND; "" leaves the choice to git. A
// command of the user's own stands as it is, only a key is added to it.
func (g *Git) sshCommand(found program, n *Network) string {
	command, own := procgroup.Lookup(g.environ(), "GIT_SSH_COMMAND")
	if !own {
		command = found.sshCommand
	}
	if _, ok := procgroup.Lookup(g.environ(), "GIT_SSH"); ok && command == "" && n.SSHKeyFile == "" {
		return ""
	}
	if command == "" {
		command = "ssh"
		if !g.Interactive {
			command = "ssh -o BatchMode=yes"
		}
	}
	if n.SSHKeyFile != "" {
		command += " -i " + shellQuote(n.SSHKeyFile)
	}
	return command
}

// shellQuote quotes s for the shell that git gives its ssh command to.
func shellQuote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
