// Package getmodules fetches one module package from where its address says,
// into a new directory, as the canonical tree that the lock's hashes are over.
//
// [Fetcher.Fetch] takes the address of a whole package; which of its
// directories a module is in, which version is wanted, hashes and locks are
// other packages' business. It only ever writes to the directory that it is
// given and, for temporary files, to that one's parent; git stores are kept in
// [Fetcher].CacheDir.
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
//     zip, tar.gz (tgz), tar.bz2 and, with [Fetcher].XZ, tar.xz (txz); the first
//     found of the archive argument and the suffix of the path decides. archive=false, or an unknown format,
//     means that the address is no archive.
//   - http(s)://host/x otherwise: a page that says where the package is. It is
//     asked for with terraform-get=1, and answers by the header
//     X-Terraform-Get or by <meta name="terraform-get" content="..."> in its
//     head. What it says must be a full address, may have a //subdir (also a
//     pattern that matches one directory), and is fetched in its turn.
//   - file:///dir, file:///x.zip: a directory, which is copied without what
//     version control and the tools keep there (.git, .terraform), or an
//     archive.
//   - oci://host/repository: the one zip layer of an artifact in an OCI registry,
//     by https. tag=TAG or digest=DIGEST choose the artifact; without either it
//     is the tag "latest". See the section on OCI.
//
// tar.xz archives are refused unless [Fetcher].XZ is set: package xz, below this
// one, decompresses them, and what is inside is read by the same rules as in any
// other tar archive. Single compressed files and plain tar are not supported as
// archives.
//
// Other kinds are for [Fetcher].Getters, to be set by whoever wants them and
// what they pull in: packages s3, gcs and hg below this one, a [Getter] of one's
// own, or one of go-getter's by package gogetter. What a Getter downloads is
// bounded while it comes, and becomes a package by the same rules as anything
// else: an archive is unpacked here, and a directory copied, from which version
// control's data is not left out but refused.
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
// https, where there are getters for these, and on this machine, from a server
// there, to http. They may not point to this machine, or to link-local addresses
// and the like, unless they are there themselves; what names resolve to is not
// looked at. That holds for redirects too, whichever git client meets them: git
// itself follows none.
// A package's own configuration may not point to files of this machine.
//
// # Links
//
// A symbolic link is part of a tree if its target is relative and clean, and a
// file or directory of the same tree is there, by way of at most 40 links. All
// others are left out, whatever the package comes from: they are never written,
// and so are part of neither the tree nor its hashes. That goes for links that are
// absolute, lead out of the package, to nothing, through a file or in circles, and
// for links that lead through one of these. The //subdir to which a page leads is a
// tree of its own here, and so is each submodule: links from one tree into another
// are left out. The directory of such a link stays, even if it becomes empty.
// [Package].LeftOut has the links, and a warning names the first ones and says how
// many more there are. Whether a module can do without them is for the caller to
// decide: this package does not know which directories are modules.
//
// Hard links in archives are refused, as are files of a link's name or below it,
// and packages of which nothing remains.
//
// # HTTP
//
// Redirects: at most 5, for GET requests, never from https to http, each without the
// address's credentials as soon as the origin changes. Pages that point to another
// page: at most 5.
// Credentials in the address are sent as basic authentication, by https only
// (and to this machine), and are in no error message. Where it has none,
// [Fetcher.HTTPCredentials] may know some. Failures of the network, 429 and 5xx
// are retried; all requests of a Fetcher to a host keep to the pause that one of
// them was asked for by Retry-After, of up to a minute, and a longer one is an
// error that says so. There are no cookies and no other credentials. Requests
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
// A tag is resolved once, by the request that brings the manifest. Manifest and
// layer must have the digest (sha256 or sha512) and the size by which they were
// named.
//
// Credentials come from [Fetcher].OCICredentials, are asked for when the
// registry wants some, and go to the registry's own origin and to its token
// service: one at the same host, or at one of the same registered domain
// (registry.example.com and auth.example.com). A registry that names a token
// service elsewhere gets the request without credentials if there are none, and
// is refused otherwise. Everything is https. Token services may not redirect;
// registries may, as in the section on HTTP.
//
// [Fetcher.OCIRepository] lists the tags of a repository.
//
// # Limits
//
// See [Limits]; also 64 MiB for a file of git that attributes change, 100:1 as the ratio of an archive's content to its size
// above 64 MiB, 1 MiB of headers for one entry of a tar file, 1 MiB for pages
// and lists of checksums, 8 KiB for addresses that servers name, 30 s without
// an answer or progress (2 minutes for git and for what a Getter downloads, which
// is looked at every 100 ms), and less than 4 KiB a second over that time; 4 MiB for
// an OCI manifest and for a page of tags, 1,000 pages of tags.
//
// # Sums of archives
//
// [Package].ArchiveSum is there where the same bytes can be expected again. It
// is empty for the archives that forges generate on request (GitHub, GitLab,
// Bitbucket, Gitea), as these have changed with the forge's compressor before;
// their trees stay the same.
package getmodules
