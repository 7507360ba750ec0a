package gitexec

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/process/procgroup"
)

// dropped are variables that point git to another repository, change the meaning of objects or paths, or
// are for a process that git itself started. COTTER_STATE_KEY is the user's own.
var dropped = [...]string{
	"COTTER_STATE_KEY",
	"GIT_ALLOW_PROTOCOL", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_ATTR_SOURCE",
	"GIT_COMMON_DIR", "GIT_CONFIG", "GIT_DEFAULT_HASH", "GIT_DEFAULT_REF_FORMAT",
	"GIT_DIR", "GIT_GLOB_PATHSPECS", "GIT_GRAFT_FILE", "GIT_ICASE_PATHSPECS",
	"GIT_IMPLICIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_INTERNAL_SUPER_PREFIX",
	"GIT_LITERAL_PATHSPECS", "GIT_NAMESPACE", "GIT_NOGLOB_PATHSPECS", "GIT_OBJECT_DIRECTORY",
	"GIT_PREFIX", "GIT_PROTOCOL", "GIT_PROTOCOL_FROM_USER", "GIT_QUARANTINE_PATH",
	"GIT_REF_STORAGE", "GIT_REPLACE_REF_BASE", "GIT_SHALLOW_FILE",
	"GIT_TEMPLATE_DIR", "GIT_TRACE_PACKET", "GIT_WORK_TREE",
	"COTTER_GIT_USERNAME", "COTTER_GIT_PASSWORD",
}

// userConfig contain or locate the user's configuration.
var userConfig = [...]string{
	"GIT_CONFIG_COUNT", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM",
	"GIT_CONFIG_PARAMETERS", "GIT_CONFIG_SYSTEM", "HOME", "XDG_CONFIG_HOME",
}

func (g *Git) environment(found program, c Command) []string {
	base := g.Environ()
	env := procgroup.Without(slices.Clone(base), dropped[:]...)
	set := func(name, value string) { env = append(procgroup.Without(env, name), name+"="+value) }

	set("LC_ALL", "C")
	set("GIT_NO_REPLACE_OBJECTS", "1")
	set("GIT_NO_LAZY_FETCH", "1")
	set("GIT_OPTIONAL_LOCKS", "0")
	set("GIT_LFS_SKIP_SMUDGE", "1")
	// Without GIT_DIR, git would use the configuration of a repository around the working directory,
	// which may come from an archive or from another user.
	set("GIT_DIR", cmp.Or(c.Repo, nullFile))
	if c.WorkTree != "" {
		set("GIT_WORK_TREE", c.WorkTree)
	}
	if c.IndexFile != "" {
		set("GIT_INDEX_FILE", c.IndexFile)
	}
	if !g.Interactive {
		set("GIT_TERMINAL_PROMPT", "0")
		set("GCM_INTERACTIVE", "never")
		set("SSH_ASKPASS_REQUIRE", "never")
		// Git falls back to SSH_ASKPASS for its own prompts.
		env = procgroup.Without(env, "SSH_ASKPASS")
	}
	if c.Network == nil {
		env = procgroup.Without(env, userConfig[:]...)
		set("GIT_CONFIG_NOSYSTEM", "1")
		set("GIT_CONFIG_GLOBAL", nullFile)
		set("GIT_ATTR_NOSYSTEM", "1")
		// A git older than 2.32 does not know GIT_CONFIG_GLOBAL.
		set("HOME", nullFile)
		set("XDG_CONFIG_HOME", nullFile)
		set("GIT_ALLOW_PROTOCOL", "none")
		return env
	}
	if _, own := procgroup.Lookup(base, "GIT_ALLOW_PROTOCOL"); own || c.Network.Direct == nil {
		set("GIT_ALLOW_PROTOCOL", allowed(base, slices.Concat(c.Network.Protocols, c.Network.Direct)))
	} // otherwise configArgs sets them, which can distinguish the two
	if c.Network.PacketTrace != "" {
		set("GIT_TRACE_PACKET", c.Network.PacketTrace)
	}
	env = append(env, c.Network.Secrets...)
	if ssh := g.sshCommand(found, c.Network); ssh != "" {
		set("GIT_SSH_COMMAND", ssh)
	}
	return env
}

func (g *Git) Getenv(name string) string {
	value, _ := procgroup.Lookup(g.Environ(), name)
	return value
}

// Allowed returns the protocols that the user's GIT_ALLOW_PROTOCOL does not exclude.
func (g *Git) Allowed(protocols []string) []string {
	return strings.Split(allowed(g.Environ(), protocols), ":")
}

// allowed returns the protocols in the form of GIT_ALLOW_PROTOCOL, which can restrict them.
func allowed(base, protocols []string) string {
	protocols = slices.Clone(protocols)
	if own, ok := procgroup.Lookup(base, "GIT_ALLOW_PROTOCOL"); ok {
		names := strings.Split(own, ":")
		protocols = slices.DeleteFunc(protocols, func(p string) bool { return !slices.Contains(names, p) })
	}
	if len(protocols) == 0 {
		return "none" // some versions of git treat "" as no restriction
	}
	return strings.Join(protocols, ":")
}

// sshCommand returns the value for GIT_SSH_COMMAND; "" leaves the choice to git.
func (g *Git) sshCommand(found program, n *Network) string {
	command, own := procgroup.Lookup(g.Environ(), "GIT_SSH_COMMAND")
	if !own {
		command = found.sshCommand
	}
	if _, ok := procgroup.Lookup(g.Environ(), "GIT_SSH"); ok && command == "" && n.SSHKeyFile == "" {
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

func shellQuote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// nullFile is known to git on every system, including Windows.
const nullFile = "/dev/null"

// always are passed on the command line, where they take precedence over every file and variable.
var always = [...]string{
	"core.hooksPath=" + nullFile,
	"core.fsmonitor=false",
	"gc.auto=0",
	"maintenance.auto=false",
	"color.ui=false",
	"protocol.ext.allow=never",
}

var onNetwork = [...]string{
	"protocol.version=2",
	// Both are set, because the second takes precedence if the user has set it.
	"transfer.fsckObjects=true",
	"fetch.fsckObjects=true",
	// A server must not redirect git to another server.
	"transfer.bundleURI=false",
	"fetch.recurseSubmodules=false",
	"submodule.recurse=false",
	// Keep one pack for each fetch, instead of a file for each object.
	"fetch.unpackLimit=1",
	// A thread for each core takes its own memory, and files above this size are not held as a whole.
	"pack.threads=1",
	"core.bigFileThreshold=16m",
	"fetch.prune=false",
	"fetch.pruneTags=false",
	"fetch.writeCommitGraph=false",
	"fetch.showForcedUpdates=false",
	"advice.fetchShowForcedUpdates=false",
	"core.logAllRefUpdates=false",
}

// oldFaults are in the history of legitimate repositories. None of them affects the contents of a tree.
var oldFaults = [...]string{
	"badDate", "badDateOverflow", "badEmail", "badName", "badTimezone",
	"missingEmail", "missingNameBeforeEmail", "missingSpaceBeforeDate",
	"missingSpaceBeforeEmail", "zeroPaddedDate", "zeroPaddedFilemode",
}

func configArgs(found program, c Command) []string {
	var args []string
	set := func(settings ...string) {
		for _, setting := range settings {
			args = append(args, "-c", setting)
		}
	}
	set(always[:]...)
	set(c.Config...)
	if c.Network == nil {
		return args
	}
	if found.remote != "" {
		set("remote.cotter.url=" + found.remote) // for includeIf; the command itself names the URL
	}
	if c.Network.Direct != nil {
		set("protocol.allow=never")
		for _, protocol := range c.Network.Protocols {
			set("protocol." + protocol + ".allow=always")
		}
		for _, protocol := range c.Network.Direct {
			set("protocol." + protocol + ".allow=user")
		}
	}
	if c.Network.ConfigFile != "" {
		set("include.path=" + c.Network.ConfigFile)
	}
	if len(c.Network.Protocols) > 0 {
		// The caller decides whether to follow a redirect.
		set("http.followRedirects=false")
	}
	if floor := c.Network.Floor; floor != nil && floor.Rate() > 0 {
		seconds := max(1, int(math.Ceil(floor.Window.Seconds())))
		set(fmt.Sprintf("http.lowSpeedLimit=%d", floor.Rate()), fmt.Sprintf("http.lowSpeedTime=%d", seconds))
	}
	set(onNetwork[:]...)
	for _, fault := range oldFaults {
		set("fetch.fsck." + fault + "=ignore")
	}
	if runtime.GOOS == "windows" {
		set("core.longpaths=true")
	}
	return args
}
