// Package inprocess fetches from git repositories in this process, without a git
// program. It has two clients:
//
//   - [V2] speaks version 2 of the protocol over http, for repositories that need
//     no credentials. Packs are read by package gitpack while they arrive.
//   - [Repository] speaks version 0 over http, ssh and git://, and reads
//     repositories of this machine where they are. It is for machines that have no
//     git. Packs, objects and the protocol's messages are read by go-git;
//     connections, limits and trust are this package's.
//
// They do not replace git. They do not
//
//   - read the user's configuration of git: credential helpers, url.insteadOf,
//     http.extraHeader, http.sslCAInfo, proxies, core.sshCommand, GIT_SSH_COMMAND
//   - connect to ssh hosts through others (ProxyJump, ProxyCommand)
//   - read repositories whose objects are named by SHA-256, or whose refs are in
//     the reftable format
//   - keep anything between fetches
//
// By version 0 a server lists all its refs for every request, and gives single
// commits only if it allows that to all clients
// (uploadpack.allowReachableSHA1InWant). Otherwise the whole history is fetched.
//
// What fails for one of these reasons is an [*Error] of the kind [Unsupported].
//
// # SSH
//
// ~/.ssh/config and /etc/ssh/ssh_config are read as in ssh_config(5), with these
// settings: HostName, Port, User, IdentityFile, IdentitiesOnly, IdentityAgent,
// HostKeyAlias and Include. The user and the port of an address take precedence. A
// value may have the tokens %d, %h, %k, %n, %p, %r, %u and %%, where ssh knows
// them; other tokens and environment variables are [Unsupported], and so are
// ProxyJump and ProxyCommand if they are set for the host. Match blocks other
// than "Match all" are left out, as they depend on more than the host's name or
// run programs. All other settings are ignored, among them
// CanonicalizeHostname, CertificateFile, UserKnownHostsFile and
// StrictHostKeyChecking.
//
// Keys are offered in OpenSSH's order: the one that the caller gives; those of the
// agent that an IdentityFile names; the agent's others, unless IdentitiesOnly is
// set; those in the IdentityFiles that have no passphrase. Without an
// IdentityFile these are ~/.ssh/id_ed25519, id_ecdsa and id_rsa. The user is not
// asked for anything. The key of the host that is connected to, or of its
// HostKeyAlias, must be in ~/.ssh/known_hosts or the system's ssh_known_hosts;
// there is no way around that.
//
// # Limits
//
// The ssh configuration has at most 1 MiB, in at most 256 files. A list of refs
// has at most 64 MiB; a pack has at most as many bytes as the caller allows, two
// million objects, and none that is larger than the caller allows; a server that is
// silent for two minutes, or sends less than it must over that time, is given up.
package inprocess
