// Package inprocess fetches from git repositories in this process, without a git program. It
// has two clients:
//
//   - [V2] uses version 2 of the protocol over http, for repositories that need no credentials, and
//     over the pipes of the user's ssh. Package gitwire sends the requests, and [PackStream] reads packs while they are received.
//   - [Repository] uses version 0 over http, ssh and git://, and reads local repositories
//     directly. It is for machines without git. go-git reads indexed packs, objects, and the
//     messages of the protocol; this package is responsible for connections, limits and trust.
//
// They do not replace git. They do not
//
//   - read the user's git configuration: credential helpers, url.insteadOf, http.extraHeader,
//     http.sslCAInfo, proxies, core.sshCommand, GIT_SSH_COMMAND
//   - connect to ssh hosts through other hosts (ProxyJump, ProxyCommand)
//   - read repositories with SHA-256 object names, or with refs in the reftable format
//   - keep anything between fetches
//
// In version 0, a server lists all its refs for every request. It sends single commits only if
// it allows that to all clients (uploadpack.allowReachableSHA1InWant). Otherwise the whole
// history is fetched.
//
// Both clients search for commits in a history by listing the commits as already present, which
// every server accepts; see package git.
//
// A failure for one of these reasons is an [*Error] of the kind [Unsupported].
//
// # Packs
//
// All packs pass the same scanner, which enforces [PackLimits] before memory is allocated.
// Version 0 sends whole histories if it cannot send single commits, so its packs are kept on
// disk, and go-git makes an index. The packs of version 2 have one commit, or commits without
// files. [PackStream] inflates each object once and computes its name, while the rest is received.
// The content beyond [PackLimits].MemoryBytes is in a temporary file, so that many packs can be
// read concurrently. Like git, PackStream uses SHA-1 with collision detection.
//
// PackStream does not use go-git's parser, which needs the whole pack, keeps up to 96 MiB in
// memory, inflates objects several times, and does not report collisions. Reading the pack of one
// commit would take 4 to 6 times as long.
//
// PackStream does not read:
//
//   - deltas whose base comes later in the pack, or is not in the pack ([ErrBase]): servers only
//     send such packs on request
//   - objects with SHA-256 names
//
// # SSH
//
// ~/.ssh/config and /etc/ssh/ssh_config are read as described in ssh_config(5), with these
// settings: HostName, Port, User, IdentityFile, IdentitiesOnly, IdentityAgent, HostKeyAlias and
// Include. The user and the port in an address take precedence. A value may contain the tokens
// %d, %h, %k, %n, %p, %r, %u and %% wherever ssh supports them. Other tokens and environment
// variables are [Unsupported]. So are ProxyJump and ProxyCommand if they are set for the host.
// Match blocks other than "Match all" are ignored, because they depend on more than the host's
// name or run programs. All other settings are ignored, including CanonicalizeHostname,
// CertificateFile, UserKnownHostsFile and StrictHostKeyChecking.
//
// Keys are offered in OpenSSH's order:
//
//   - the key that the caller passes
//   - keys of the agent that an IdentityFile names
//   - other keys of the agent, unless IdentitiesOnly is set
//   - keys without a passphrase in the IdentityFiles or, if there are none, in
//     ~/.ssh/id_ed25519, id_ecdsa and id_rsa
//
// The user is never prompted. The key of the host, or of its HostKeyAlias, must be in
// ~/.ssh/known_hosts or in the system's ssh_known_hosts. This check cannot be disabled.
//
// # Limits
//
// The ssh configuration has at most 1 MiB, in at most 256 files. A list of refs has at most
// 64 MiB. A pack has at most two million objects; the caller sets the limits for its size and for
// the size of an object. A connection is closed if the server sends nothing for two minutes, or
// less than the minimum rate over that time.
package inprocess
