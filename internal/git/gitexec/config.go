package gitexec

import (
	"fmt"
	"math"
	"runtime"
)

// nullFile is the null device, by the name that git knows on every system, including Windows.
const nullFile = "/dev/null"

// always are settings for every command. They are passed on the command line, where they take
// precedence over every file and variable.
var always = [...]string{
	"core.hooksPath=" + nullFile,
	"core.fsmonitor=false",
	"gc.auto=0",
	"maintenance.auto=false",
	"color.ui=false",
	"protocol.ext.allow=never",
}

// onNetwork are settings for commands that talk to a server.
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
	"fetch.prune=false",
	"fetch.pruneTags=false",
	"fetch.writeCommitGraph=false",
	"fetch.showForcedUpdates=false",
	"advice.fetchShowForcedUpdates=false",
	"core.logAllRefUpdates=false",
}

// oldFaults are faults that old tools left in the history of legitimate repositories. None of
// them affects the names or contents of a tree. As errors they would make such repositories
// unusable.
var oldFaults = [...]string{
	"badDate", "badDateOverflow", "badEmail", "badName", "badTimezone",
	"missingEmail", "missingNameBeforeEmail", "missingSpaceBeforeDate",
	"missingSpaceBeforeEmail", "zeroPaddedDate", "zeroPaddedFilemode",
}

// configArgs returns the settings of a command, as arguments that precede its subcommand.
func configArgs(c Command) []string {
	var args []string
	set := func(settings ...string) {
		for _, setting := range settings {
			args = append(args, "-c", setting)
		}
	}
	set(always[:]...)
	if c.Network == nil {
		return args
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
