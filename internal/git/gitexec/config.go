package gitexec

import (
	"fmt"
	"math"
	"runtime"
)

// nullFile is the null device by the name that every git knows, Windows' too.
const nullFile = "/dev/null"

// always are settings for every command. They stand on the command line, where
// they win over every file and variable.
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
	// Both, because the second wins where the user has it.
	"transfer.fsckObjects=true",
	"fetch.fsckObjects=true",
	// A server may not send us elsewhere.
	"transfer.bundleURI=false",
	"fetch.recurseSubmodules=false",
	"submodule.recurse=false",
	// One pack for each fetch instead of a file for each object.
	"fetch.unpackLimit=1",
	"fetch.prune=false",
	"fetch.pruneTags=false",
	"fetch.writeCommitGraph=false",
	"fetch.showForcedUpdates=false",
	"advice.fetchShowForcedUpdates=false",
	"core.logAllRefUpdates=false",
}

// oldFaults are flaws that old tools left in the history of honest
// repositories. None of them matters to a tree's names or contents, and as
// errors they would make such repositories unusable.
var oldFaults = [...]string{
	"badDate", "badDateOverflow", "badEmail", "badName", "badTimezone",
	"missingEmail", "missingNameBeforeEmail", "missingSpaceBeforeDate",
	"missingSpaceBeforeEmail", "zeroPaddedDate", "zeroPaddedFilemode",
}

// configArgs are the settings of a command, in front of its subcommand.
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
		// Where a server redirects to is for the caller to judge.
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
