// Package getmodules fetches one module package from its address into a new directory. The
// result is the canonical tree that the hashes of a lock file cover.
//
// [Fetcher.Fetch] takes the address of a whole package. It knows nothing about module
// subdirectories, versions, hashes or locks. It writes only to the given directory, to that
// directory's parent (temporary files), and to [Fetcher].CacheDir (git stores).
//
// # Sources
//
//   - git::URL, git://: the tree of one commit, without history. The installed git fetches it
//     with the user's own configuration for credentials and proxies, or Cotter fetches it
//     without git; see the section on git. No hooks, filters or submodules are used, and git
//     never prompts. The commit's own .gitattributes files apply, the user's do not.
//     Credentials in the address never appear in the arguments of a process. Other arguments of
//     the address do, because git passes the URL to its remote helpers. If an address has a
//     user but no password, and neither the user's credential helpers nor an askpass program
//     know one, the password is empty.
//   - http(s)://host/x.zip, or with ?archive=zip: an archive. The formats are zip, tar.gz
//     (tgz), tar.bz2 and, with [Fetcher].XZ, tar.xz (txz). The archive argument takes
//     precedence over the suffix of the path. archive=false, or an unknown format, means that
//     the address is not an archive.
//   - http(s)://host/x otherwise: a page that names the location of the package. The page is
//     requested with terraform-get=1. It answers with the header X-Terraform-Get, or with <meta
//     name="terraform-get" content="..."> in its head. The location must be a full address. It
//     may have a //subdir, which may be a pattern that matches one directory. The package is
//     then fetched from that location.
//   - file:///x.zip: an archive on this machine. A directory (file:///dir) is not fetched; see
//     [LocalDirectory].
//   - oci://host/repository: the only zip layer of an artifact in an OCI registry, over https.
//     tag=TAG or digest=DIGEST selects the artifact; the default is the tag "latest". See the
//     section on OCI.
//
// tar.xz archives are refused unless [Fetcher].XZ is set. Package getmodules/xz decompresses
// them; their content is subject to the same rules as other tar archives. Single compressed
// files and uncompressed tar files are not supported as archives.
//
// Other kinds of sources need an entry in [Fetcher].Getters, which can also replace or remove
// the kinds above. Getters are in the packages
// getmodules/s3, gcs and hg; package getmodules/gogetter adapts getters of go-getter; and
// callers can write their own [Getter]. Callers add only the getters whose dependencies they
// want. The size and speed of a Getter's download are limited while it runs. The same rules as
// for other packages then apply: an archive is unpacked here, and a directory is copied.
// Version control data in such a directory is refused, not skipped.
//
// # Arguments of archive addresses
//
// checksum=HEX, checksum=ALGORITHM:HEX (md5, sha1, sha256, sha512) and checksum=file:URL (a
// list in the format of the GNU tools or of BSD) are compared with the archive before it is
// unpacked. The arguments checksum and archive are not sent to the server. All others are sent
// byte for byte.
//
// # What is refused
//
// Trees follow the rules of package treewriter: they contain regular files, directories and
// links that stay inside the tree, with safe names. Other symbolic links are left out; see the
// section on links. Archives are also refused if they
//
//   - are truncated, or followed by other data
//   - contain hard links, devices, pipes, sparse files, or two entries of the same name
//   - describe an entry in two different ways: zip's local headers, descriptors and directory
//     must agree, and must fill the file without gaps or overlaps; tar headers must not give a
//     second name or size
//   - use zip64, encryption, or methods other than store and deflate
//   - are in another format than the address says
//   - are empty
//
// Servers may only point to https, to git over https or ssh, to oci, and to s3 and gcs over
// https if there are getters for them. A server on this machine may also point to http on this
// machine. Other servers may not point to this machine, to link-local addresses and the like.
// Over http and for OCI registries, the addresses that host names resolve to are checked too, unless
// there is a proxy. These rules also apply to redirects, with all git clients: git itself is
// configured not to follow redirects.
//
// A package's own configuration, and its .gitmodules, may not point to files of this machine, nor to
// hosts to which a server at the place of the package may not point. Submodules on other hosts need
// https or ssh.
//
// # Links
//
// A symbolic link is part of a tree if its target is relative and clean, and resolves to a file
// or directory of the same tree through at most 40 links. Other links are omitted for all kinds
// of sources: they are not written, and are not part of the tree or its hashes. A link is
// omitted if it is absolute, points out of the package or to nothing, passes through a file, is
// part of a cycle, or passes through another omitted link.
//
// If a page points to a //subdir, that directory is a separate tree here. So is each submodule.
// Links from one tree into another are omitted. The directory of an omitted link is kept, even
// if it becomes empty. [Package].LeftOut lists the omitted links; a warning names the first
// few, and the number of the others. Callers decide whether a module needs them, because this
// package does not know which directories are modules.
//
// Hard links in archives are refused. So are files whose path is the path of a link, or is
// below one, and packages in which no file remains.
//
// # HTTP
//
// Redirects are followed for GET requests only, at most 5 of them, and never from https to
// http. Credentials in the address are dropped when the origin changes. At most 5 pages in a
// row may point to another page. In an installation, package cotter checks each request and each
// redirect against the policy of the project.
//
// Credentials in the address are sent with basic authentication, over https only (or to this
// machine), and never appear in errors. If the address has none, [Fetcher.HTTPCredentials] is
// called. Requests are retried after network failures and the statuses 429 and 5xx. A
// Retry-After of up to a minute delays all requests of the Fetcher to that host; a longer one
// is an error. No cookies and no other credentials are sent. Requests have the User-Agent of
// [Fetcher].UserAgent, except those to git servers.
//
// # Git
//
// A repository with an http or https address is fetched in this process, by version 2 of the
// git protocol, if the result is certain to be the same as with git. These are the conditions:
//
//   - The address has no arguments for the server.
//   - The user's git configuration and environment have no setting for it that only git can apply.
//     Applied are url.*.insteadOf, before the address is judged, and of http.<url>.* the headers, proxies,
//     certificates and the user agent, each by git's rules. Others, such as http.cookieFile, GIT_TRACE and
//     GIT_SSL_CIPHER_LIST, leave the repository to git.
//   - If the server demands credentials, it accepts a user and a password, and the address, the netrc
//     file ([Fetcher].HTTPCredentials) or "git credential fill" has them.
//   - No object of the pack is larger than 16 MiB.
//
// So is a repository with an ssh address, over the pipes of the ssh program that git would run with the
// same arguments (GIT_SSH_COMMAND, core.sshCommand, GIT_SSH, ssh.variant), except on Windows. Its
// configuration, agents and jump hosts work as with git. The conditions are that the program is OpenSSH
// or takes its options, that git is installed, and that no GIT_TRACE variable is set. If ssh itself
// fails (an unknown host, a refused key, no such repository), git would fail in the same way and does
// not run.
//
// During a run of an Installer, sessions with the same user, host, port, key and ssh command share a
// connection, at most ten at a time, if ssh is OpenSSH and its configuration for the host has no
// ControlMaster and ControlPath. The socket is in a private temporary directory. The connection ends
// with the run, also if the process is killed.
//
// Fetching a known commit takes one request, fetching a ref two, and listing tags one. The
// requests contain no user data. The name of each object is computed from its content, with
// detection of SHA-1 collisions.
//
// In all other cases, and after any failure, git fetches the repository, and the errors of git
// are reported. From then on the Fetcher uses git for that repository, or for the whole server
// if it does not support the protocol. If the installed git is not usable, the error is [ErrNoGit], with the reason why the repository
// could not be fetched in this process. [Fetcher].AlwaysGit uses git for everything.
//
// [Fetcher].GitCredentials returns credentials for repositories with an https address. They are sent
// only to the origin of that address. Git gets them in its
// environment, like the credentials in an address.
//
// All clients resolve a name by git's own rule (gitrevisions(7)): the first of these refs that
// the repository has. The refs are NAME, refs/NAME, refs/tags/NAME, refs/heads/NAME,
// refs/remotes/NAME and refs/remotes/NAME/HEAD. If another of them points to a different
// commit, a warning names both. If there is none of them, origin/BRANCH means the branch, as in a
// clone.
//
// [Fetcher.Reachable] determines whether commits are in the history of a branch or a tag. Servers
// also send other commits: a forge serves those of forks and pull requests at the address of the
// repository. Package internal/git documents the rule.
//
// Files are the same on every platform: they are the files that "git checkout" writes for a
// user without settings. The attributes text, eol, ident and working-tree-encoding in the
// commit's own .gitattributes files apply. The user's attributes, core.autocrlf and core.eol do
// not. Package internal/git/gitattr documents the rules. A file that cannot be written in its
// encoding stays in UTF-8, with a warning.
//
// The contents of [Fetcher].CacheDir are not trusted. It has only packs and lists of shallow commits: git
// runs in a repository that is made for each fetch, beside [Request].Dir, or elsewhere if other users
// could exchange that. Objects are compared with their names when they are read. If the cache is not
// writable, or belongs to another user, it is not used, with a warning.
//
// # Without git
//
// If there is no git in PATH, or if [Fetcher].GitBackend says so, everything is fetched in this process.
// Trees, hashes and revisions are the same as with git. What needs git is an [ErrBuiltInGit]: git://,
// repositories on this machine, servers without version 2 of the protocol, abbreviated commits, and
// SHA-256 object names. Nothing is kept in [Fetcher].CacheDir. An object has at most 256 MiB, or the
// limit of a file if that is larger.
//
//   - The user's git configuration is not read: credential helpers, url.insteadOf,
//     http.extraHeader, http.sslCAInfo and GIT_SSH_COMMAND have no effect. GIT_ALLOW_PROTOCOL
//     applies. If there is such a configuration, the first package has a warning about it.
//   - Credentials for http are those in the address, from [Fetcher].GitCredentials or from netrc. Keys
//     for ssh are the key in the sshkey argument, the keys of the agent, and keys without a passphrase in
//     the files of IdentityFile or, by default, in ~/.ssh/id_ed25519, id_ecdsa and id_rsa. Hosts must be
//     in known_hosts.
//   - From ~/.ssh/config it reads HostName, Port, User, IdentityFile and IdentitiesOnly. Other settings
//     that decide how to log in are an [ErrBuiltInGit] that names them, such as ProxyJump, Include and
//     Match.
//
// # OCI
//
// An artifact is a module package if its manifest is an OCI image manifest with the artifact
// type "application/vnd.opentofu.modulepkg", and has exactly one layer of the type
// "archive/zip". Other layers, the config, the URLs and embedded data of descriptors, subjects
// and referrers are ignored. Image indexes and manifests in Docker's format are refused. This
// is OpenTofu's format: https://opentofu.org/docs/cli/oci_registries/module-package/
//
// A tag is resolved once, by the request for the manifest. The manifest and the layer must
// match the digest (sha256 or sha512) and the size in their descriptors.
//
// Credentials come from [Fetcher].OCICredentials, which is called when the registry demands
// authentication. They are sent to the registry's origin, and to its token service if that is
// on the same host or in the same registered domain (registry.example.com and
// auth.example.com). A token service elsewhere is used only without credentials; if there are
// credentials, it is refused. All requests use https. Token services may not redirect.
// Registries may, as described in the section on HTTP.
//
// [Fetcher.OpenOCI] and [Fetcher.OCIRepository] open repositories for other purposes.
// [Fetcher].OCI replaces the client: then no request is sent here, and the rules for requests are
// those of the replacement. Digests, sizes and limits are still checked.
//
// # Limits
//
// [Limits] is set by the caller. The other limits are fixed:
//
//   - archives: the content may have 100 times the size of the archive, checked above 64 MiB of
//     content; the headers of one tar entry may have 1 MiB
//   - git: 64 MiB for a file that attributes change
//   - HTTP: 1 MiB for a page and for a list of checksums; 8 KiB for an address that a server
//     names
//   - transfers: at least 4 KiB per second, averaged over each window of 30 s, or of 2 minutes
//     for git and Getters, whose downloads are measured every 100 ms
//   - OCI: 4 MiB for a manifest and for a page of tags; 1,000 pages of tags
//
// # Archive checksums
//
// [Package].ArchiveSum is set if a later download can be expected to return the same bytes. It
// is empty for archives that forges generate on request (GitHub, GitLab, Bitbucket, Gitea).
// Their bytes have changed with the forge's compressor in the past, while their trees stayed
// the same.
package getmodules
