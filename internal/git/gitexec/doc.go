// Package gitexec runs the installed git in such a way that neither a repository nor an address
// can make it do more than it was asked to do.
//
// A command runs in one of two phases:
//
//   - Reading (the default) has access only to the object store of a local repository. Global
//     and system configuration are disabled and no protocol is allowed, so nothing can be
//     fetched lazily.
//   - Network ([Command.Network] is set) uses the user's own configuration, because it contains
//     credential helpers, url.insteadOf, http.extraHeader, proxies and ssh settings. Settings
//     that run programs, or change which data is accepted, are overridden on the command line.
//     Redirects by http are not followed; the caller handles them.
//
// In both phases git does not look for a repository around the working directory. There are no
// hooks, no fsmonitor, no background maintenance, no replacement objects, no inherited GIT_DIR and
// the like, no prompts (unless [Git.Interactive] is set), no standard input, no controlling
// terminal, and no localized messages. A canceled command is killed together with all processes
// that it started.
//
// A [Repository] fetches single commits in this way, into a bare repository that is made anew in a private
// directory, and reads their objects with "git cat-file". A cache keeps only packs and the list of shallow
// commits between fetches, so nothing that git obeys is in it. Objects are checked when they are read: an
// index can be wrong. Packs are linked, or copied to another file system; no other file of the cache, such as
// alternates, a commit-graph, a multi-pack-index or bitmaps, is seen by git. Credentials are passed in git's
// environment, where a credential helper reads them. They are never in arguments or on disk.
//
// # SSH
//
// [Git.DialSSH] runs the ssh program that git would run, with the same arguments and environment, and
// leaves the protocol to its caller. A user or host that begins with a dash is refused. The private
// key of an address is in a file with mode 0600, and only the file's name is an argument. In a context
// with a [singleflight.Memory], equal hosts share a connection until the memory is closed: the first
// session has it (ControlMaster), and others use its socket. It does not outlive this process, because
// the first session ends when its input does.
//
// # Redirects
//
// Git follows no http redirect. If its first request gets one, the same request is sent by package
// httpx, which applies its own rules and the policy of the project to every URL. Git is then run
// again with the final URL, and the other commands of the process begin there.
//
//   - Without a redirect there is no request in addition to git's. Neither is there one for ssh, git
//     and local repositories, or if the user has set http.followRedirects to false.
//   - The request goes to the URL that git itself requests.
//   - It is sent by [Requests], as described below. If the user has a setting that only git can apply,
//     the redirect is not followed, and the error names the setting.
//
// # Hosts that servers and packages name
//
// Git and ssh open connections themselves. If the context has limits ([httpx.PointedTo]), the host is
// resolved before they are started, and git gets the accepted addresses for http (http.curloptResolve).
// For ssh, the HostName of "ssh -G" is resolved, which ssh then does once more: another address would
// change the name under which it knows the host's key.
//
// # Requests without git
//
// [Requests] sends the http requests for a repository as git would. [Settings] are the user's
// configuration, which git lists once in a run, outside of any repository, and the environment.
//
//   - [Settings.Target] applies url.<base>.insteadOf once. The caller judges the result, and git is kept
//     from replacing it again. Credentials of the base are used only if the base has the whole host.
//   - [Settings.For] decides which settings http.<url>.* apply to a URL, by git's rule: proxies,
//     certificates, extraHeader (an empty one removes those before it), userAgent and followRedirects. Any
//     other that could change a request, such as cookieFile, is a [SettingError], and git is run.
//   - Headers and client certificates that name no URL go only to hosts that the root module or the user's
//     settings name. Git gets them under the same rule. It cannot be told to ignore a certificate, so it
//     is not run for such a host ([WithheldError]).
//   - Credentials of the address are sent with each request. Others only after an answer with status 401
//     that accepts a user and a password: those of the netrc file, and then those of "git credential
//     fill", which is run once for each origin, user and, with credential.useHttpPath, path. From then on
//     they are sent at once. Helpers are told whether their credentials work, as by git.
//   - Credentials are sent by http only if the address has them, if the root module or the user's settings
//     name the host with this port, or within this machine. Nothing is sent to another origin after a
//     redirect.
//
// Fetches of one repository that wait for the lock of its store at the same time, with the same
// credentials and under the same policy, share one "git fetch". If it fails, such as for a ref that
// does not exist, each of them runs its own.
//
// [Repository.Reachable] fetches the history of branches and tags into a private store, without
// trees and files if the server supports that. The size of the store is measured while git runs.
//
// [Git.Settings] reports whether http requests can be sent without git, considering
// everything that the user's configuration and environment say about them.
//
// Package gitexec has these limits:
//
//   - It trusts the git program that it finds, and the user's configuration. The configuration of
//     [Command.Repo] is not trusted to name programs, but its other settings apply.
//   - It does not check arguments. Callers must first check values from outside with
//     [git.CheckURL], [git.CheckRef] or [git.IsObjectID], and put them after
//     "--end-of-options".
//   - It limits neither the number of objects that git downloads nor git's own memory.
package gitexec
