// Package gitexec runs the installed git, and ssh as git runs it, in such a way that neither a repository
// nor an address can make them do more than they were asked to do.
//
// A command either reads a local repository, without the user's configuration and without any protocol,
// or has access to the network ([Command.Network]) with that configuration; settings that run programs, or
// change which data is accepted, are overridden. There are no hooks, prompts or controlling terminal, and
// git looks for no repository around the working directory. It is not limited in memory and does not check
// arguments: values from outside must pass [git.CheckURL], [git.CheckRef] or [git.IsObjectID] first.
// [Requests] sends http requests as git would, by the settings that git lists ([Settings]).
package gitexec
