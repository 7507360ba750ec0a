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
//     own .gitattributes count, and nobody else's; see the section on git. Credentials
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
// A repository by http or https is fetched in this process, by git's protocol
// version 2, if git would do nothing else than we do:
//
//   - the address has no credentials and no arguments of the server's
//   - the user's git configuration and environment have nothing that changes
//     requests to it: no url.*.insteadOf for it, no http.* for it but what only
//     concerns git's own way of working, and http.sslCAInfo, which is used; no
//     proxy that [Fetcher].HTTPClient does not use as well; no GIT_SSL_*,
//     GIT_TRACE and the like
//   - the server answers; it wants no credentials; the pack's objects have at
//     most 16 MiB each
//
// A known commit takes one request, a ref two, a list of tags one. Nothing of the
// user's is sent. Each object is named anew by its content, with detection of
// SHA-1 collisions. The result is the one that git gives.
//
// In all other cases, and whatever goes wrong, git does the work, and what it
// says counts. A repository that needed git is left to it from then on, as is a
// server that does not speak that protocol. Where no git is installed, the
// built-in client does it; where the one that is installed is of no use,
// [ErrNoGit] comes with the reason why it did not work without.
// [Fetcher].AlwaysGit leaves everything to git.
//
// Credentials that [Fetcher].GitCredentials has for a repository by https are used by
// git and by the built-in client alike, for that origin alone. Git gets them in its
// environment, as it gets those of an address.
//
// Which ref a name means is decided by git's own rule (gitrevisions(7)) whichever
// client fetches or checks: NAME, refs/NAME, refs/tags/NAME, refs/heads/NAME,
// refs/remotes/NAME, refs/remotes/NAME/HEAD, the first that the repository has. If
// another one of these points to another commit, a warning names both.
//
// Files are what "git checkout" writes for a user without settings, on every
// platform: the attributes text, eol, ident and working-tree-encoding of the
// commit's own .gitattributes files count, and those of the user do not, nor
// core.autocrlf and core.eol. Package internal/git/gitattr has the rules. A file
// that cannot be written in its encoding stays UTF-8, with a warning.
//
// What [Fetcher].CacheDir holds may come from someone else. A store there is used
// if it holds just what this package and a fetch put there, under a configuration
// that is byte for byte ours; any other is made anew. Objects are compared with
// their names as they are read. A cache that cannot be written to, or that belongs
// to another user, is left alone, with a warning.
//
// # The built-in git client
//
// It does what git would where PATH has no git, or everything by choice
// ([Fetcher].GitBackend). The trees, hashes and revisions that it brings are
// those that git would bring. The first package says so in its warnings. It
// differs in this:
//
//   - The user's configuration of git is not read: no credential helpers,
//     url.insteadOf, http.extraHeader, http.sslCAInfo or GIT_SSH_COMMAND.
//     GIT_ALLOW_PROTOCOL counts.
//   - Of ~/.ssh/config and /etc/ssh/ssh_config these settings count: HostName,
//     Port, User, IdentityFile, IdentitiesOnly, IdentityAgent, HostKeyAlias and
//     Include. A host with a ProxyJump or ProxyCommand is an [ErrBuiltInGit].
//     Match blocks other than "Match all" are left out. As by git, rules for
//     where an address may point apply to its host, before the configuration
//     replaces that.
//   - Credentials for http are those of the address or of
//     [Fetcher].GitCredentials, under the rules of the section on HTTP. Keys for ssh are that of the sshkey argument, those of
//     the agent, and those without a passphrase in the files of IdentityFile or,
//     by default, in ~/.ssh/id_ed25519, id_ecdsa and id_rsa. Hosts must be in known_hosts.
//   - Repositories that name objects by SHA-256 are an [ErrBuiltInGit]; so are,
//     on this machine, those with a reftable or with relative alternates.
//   - It speaks version 0 of the protocol. A server then lists all refs, at most
//     64 MiB, and many give only commits that a ref names: for another one the
//     whole history comes, within the limit of the download.
//   - A pack holds at most 2,000,000 objects, and none above 256 MiB, or above
//     the limit for files where that is higher.
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
