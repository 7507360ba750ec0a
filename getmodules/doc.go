// Package getmodules fetches one module package from its address into a new
// directory, as the canonical tree that the hashes of a lock cover.
//
// [Fetcher.Fetch] takes the address of a whole package. It does not know
// subdirectories of modules, versions, hashes or locks. It writes only to the given
// directory, to that directory's parent for temporary files, and to
// [Fetcher].CacheDir for git stores.
//
// # Sources
//
//   - git::URL, git://: the tree of one commit, without history, by the git
//     that is installed, with the user's own configuration for credentials and
//     proxies. No hooks, no filters, no submodules, never a prompt. The commit's
//     own .gitattributes count, and not the user's; see the section on git. Credentials
//     in the address are in no process's arguments; arguments of the address are,
//     as git gives the URL to its remote helpers. An address with a user and no
//     password has the empty password if neither the user's credential helpers
//     nor an askpass program know one. Many repositories are fetched
//     without git; see the section on git.
//   - http(s)://host/x.zip, or with ?archive=zip: an archive. The formats are
//     zip, tar.gz (tgz), tar.bz2 and, with [Fetcher].XZ, tar.xz (txz). The archive
//     argument takes precedence over the suffix of the path. archive=false, or an
//     unknown format, means that the address is not an archive.
//   - http(s)://host/x otherwise: a page that names the location of the package. It
//     is requested with terraform-get=1, and answers with the header
//     X-Terraform-Get or with <meta name="terraform-get" content="..."> in its
//     head. The location must be a full address, can have a //subdir (also a
//     pattern that matches one directory), and is then fetched.
//   - file:///dir, file:///x.zip: a directory, which is copied without the
//     directories of version control and the stock tools (.git, .terraform), or an
//     archive.
//   - oci://host/repository: the only zip layer of an artifact in an OCI registry,
//     by https. tag=TAG or digest=DIGEST select the artifact; the default is the
//     tag "latest". See the section on OCI.
//
// tar.xz archives are refused unless [Fetcher].XZ is set. Package getmodules/xz
// decompresses them; the rules for their content are those of other tar archives.
// Single compressed files and plain tar are not supported as archives.
//
// Other kinds of sources need an entry in [Fetcher].Getters: from packages
// getmodules/s3, gcs and hg, from go-getter by package getmodules/gogetter, or the
// caller's own [Getter]. Callers add only those whose dependencies they want. A
// Getter's download is limited while it runs. The same rules then apply as for
// other packages: an archive is unpacked here, and a directory is copied. Data of
// version control in such a directory is refused, not skipped.
//
// # Arguments of archive addresses
//
// checksum=HEX, checksum=ALGORITHM:HEX (md5, sha1, sha256, sha512) and
// checksum=file:URL (a list in the form of the GNU tools or BSD's) are compared
// with the archive before it is unpacked. They and archive= are not sent to the
// server; all other arguments are, byte for byte.
//
// # What is refused
//
// Trees are those of package treewriter: regular files, directories and links
// that stay inside; no unsafe names. Other symbolic links are left out; see the
// section on links. Archives are refused as well if they
//
//   - are truncated, anywhere, or followed by anything
//   - hold hard links, devices, pipes, sparse files, or a name twice
//   - describe an entry twice in different ways: zip's local headers,
//     descriptors and directory must agree and must fill the file without gaps
//     or overlaps; tar headers must not give a second name or size
//   - use zip64, encryption, or methods other than store and deflate
//   - are not of the format that the address says
//   - are empty
//
// Servers may only point to https, git over https or ssh, oci, and s3 and gcs over
// https if there are getters for them. A server on this machine may also point to
// http on this machine. Other servers may not point to this machine, to link-local
// addresses and the like. The addresses that names resolve to are not checked.
// These rules also apply to redirects, with all git clients: git itself follows
// none.
//
// A package's own configuration may not point to files of this machine.
//
// # Links
//
// A symbolic link is part of a tree if its target is relative and clean, and
// resolves to a file or directory of the same tree through at most 40 links. Other
// links are omitted for all kinds of sources: they are not written, and are not
// part of the tree or its hashes. These are links that are absolute, point out of
// the package or to nothing, pass through a file, form a cycle, or pass through
// another omitted link.
//
// The //subdir to which a page points is a separate tree here, and so is each
// submodule: links from one tree into another are omitted. The directory of an
// omitted link is kept, even if it becomes empty. [Package].LeftOut lists the links;
// a warning names the first ones and the number of the others. Callers decide
// whether a module needs them: this package does not know which directories are
// modules.
//
// Hard links in archives are refused. So are files with the path of a link or below
// it, and packages without any remaining file.
//
// # HTTP
//
// Redirects: at most 5, for GET requests, never from https to http. The address's
// credentials are dropped when the origin changes. Pages that point to another
// page: at most 5.
//
// Credentials in the address are sent with basic authentication, by https only
// (or to this machine), and never appear in errors. If the address has none,
// [Fetcher.HTTPCredentials] is called. Network failures, 429 and 5xx are retried.
// A Retry-After of up to a minute delays all requests of a Fetcher to that host; a
// longer one is an error. There are no cookies and no other credentials. Requests
// have the User-Agent of [Fetcher].UserAgent, except those to git servers.
//
// # Git
//
// A repository with an http or https address is fetched in this process, by version 2
// of git's protocol, if the result is certain to be that of git:
//
//   - The address has no credentials, and no arguments for the server.
//   - The user's git configuration and environment do not change requests to it. They
//     have no url.*.insteadOf for it and no http.* settings for it, except
//     http.sslCAInfo, which is used, and settings that only concern git's own way of
//     working. They have no proxy that [Fetcher].HTTPClient does not use as well, and
//     no variables such as GIT_SSL_* and GIT_TRACE.
//   - The server answers and demands no credentials, and no object of the pack has more
//     than 16 MiB.
//
// Fetching a known commit takes one request, a ref two, and listing tags one. The
// requests contain no data of the user. The name of each object is computed from its
// content, with detection of SHA-1 collisions.
//
// In all other cases, and after any failure, git fetches the repository, and its errors
// are the ones reported. From then on git is used for that repository, and for a server
// that does not speak the protocol. Without an installed git the built-in client is
// used. If the installed git is not usable, the error is [ErrNoGit] with the reason why
// the repository could not be fetched in this process. [Fetcher].AlwaysGit uses git for
// everything.
//
// [Fetcher].GitCredentials has credentials for repositories with an https address. Git
// and the built-in client use them for that origin only. Git gets them in its
// environment, like those in an address.
//
// All clients resolve a name by git's own rule (gitrevisions(7)). It means the first of
// these refs that the repository has: NAME, refs/NAME, refs/tags/NAME, refs/heads/NAME,
// refs/remotes/NAME, refs/remotes/NAME/HEAD. If another one of these points to another
// commit, a warning names both.
//
// Files are the same on every platform: what "git checkout" writes for a user without
// settings. The attributes text, eol, ident and working-tree-encoding in the commit's
// own .gitattributes files apply. The user's attributes, core.autocrlf and core.eol do
// not. Package internal/git/gitattr has the rules. A file that cannot be written in its
// encoding stays UTF-8, with a warning.
//
// The contents of [Fetcher].CacheDir may come from someone else. A store there is used
// only if it contains nothing but what this package and a fetch put there, and if its
// configuration is byte for byte the one that this package writes. Any other store is
// replaced. Objects are compared with their names as they are read. A cache that is not
// writable, or that belongs to another user, is not used, with a warning.
//
// # The built-in git client
//
// It replaces git if PATH has no git, or always if [Fetcher].GitBackend says so. Trees,
// hashes and revisions are the same as with git. The first package has a warning that
// it is used. It differs from git as follows:
//
//   - The user's configuration of git is not read: no credential helpers,
//     url.insteadOf, http.extraHeader, http.sslCAInfo or GIT_SSH_COMMAND.
//     GIT_ALLOW_PROTOCOL counts.
//   - Of ~/.ssh/config and /etc/ssh/ssh_config it reads the settings HostName, Port,
//     User, IdentityFile, IdentitiesOnly, IdentityAgent, HostKeyAlias and Include. A
//     host with a ProxyJump or ProxyCommand is an [ErrBuiltInGit]. Match blocks other
//     than "Match all" are ignored. As with git, the rules for where an address may
//     point apply to the host in the address, not to its HostName.
//   - Credentials for http are those in the address or in [Fetcher].GitCredentials,
//     under the rules of the section on HTTP. Keys for ssh are the key in the sshkey
//     argument, the keys of the agent, and keys without a passphrase in the files of
//     IdentityFile or, by default, in ~/.ssh/id_ed25519, id_ecdsa and id_rsa. Hosts must
//     be in known_hosts.
//   - Repositories that name objects by SHA-256 are an [ErrBuiltInGit]; so are,
//     on this machine, those with a reftable or with relative alternates.
//   - It speaks version 0 of the protocol. A server then lists all refs, at most
//     64 MiB. Many servers send only commits to which a ref points. For any other
//     commit the whole history is fetched, within the limit of the download.
//   - A pack has at most 2,000,000 objects. An object has at most 256 MiB, or as much
//     as a file may have if that is more.
//   - Nothing is kept in [Fetcher].CacheDir.
//
// # OCI
//
// An artifact is a module package if its manifest is an OCI image manifest with
// the artifact type "application/vnd.opentofu.modulepkg" and exactly one layer
// of the type "archive/zip". Other layers, the config, descriptors' URLs and
// embedded data, subjects and referrers are ignored. Image indexes and manifests
// in Docker's format are refused. The format is that of OpenTofu:
// https://opentofu.org/docs/cli/oci_registries/module-package/
//
// A tag is resolved once, by the request for the manifest. Manifest and layer must
// have the digest (sha256 or sha512) and the size of their descriptors.
//
// Credentials come from [Fetcher].OCICredentials, which is called when the registry
// demands authentication. They are sent to the registry's origin and to its token
// service on the same host or in the same registered domain (registry.example.com
// and auth.example.com). A token service elsewhere is used only without
// credentials; if there are credentials, it is refused. All requests use https.
// Token services may not redirect; registries may, as in the section on HTTP.
//
// [Fetcher.OCIRepository] lists the tags of a repository.
//
// # Limits
//
// [Limits] can be set. The others are:
//
//   - archives: content of 100 times the archive's size, above 64 MiB of content;
//     1 MiB of headers for an entry of a tar file
//   - git: 64 MiB for a file that attributes change
//   - HTTP: 1 MiB for pages and lists of checksums; 8 KiB for an address that a
//     server names
//   - transfers: at least 4 KiB a second over each window of 30 s, or of 2 minutes
//     for git and Getters, whose downloads are measured every 100 ms
//   - OCI: 4 MiB for a manifest and for a page of tags; 1,000 pages of tags
//
// # Sums of archives
//
// [Package].ArchiveSum is set if the same bytes can be expected again. It is empty
// for archives that forges generate on request (GitHub, GitLab, Bitbucket, Gitea):
// their bytes have changed with the forge's compressor before, while their trees
// stay the same.
package getmodules
