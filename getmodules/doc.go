// Package getmodules fetches one module package from its address into a new directory. The result is the
// canonical tree that the hashes of a lock cover. [Fetcher.Fetch] takes the address of a whole package, and
// knows nothing of subdirectories of modules, versions, hashes or locks. These kinds of sources are built in:
//
//   - git::URL, git://: the tree of one commit, as "git checkout" writes it for a user without settings, on
//     every platform. [GitBackend] chooses the client. No hooks, filters or submodules are used.
//   - http(s)://HOST/x.zip, or with the argument archive=zip: an archive, in the formats zip, tar.gz (tgz),
//     tar.bz2 and, with [Fetcher].XZ, tar.xz (txz). The argument takes precedence over the suffix of the
//     path; archive=false, or an unknown format, means that it is no archive. The argument checksum, HEX,
//     ALGORITHM:HEX (md5, sha1, sha256, sha512) or file:URL, is compared before unpacking. All other
//     arguments are sent byte for byte.
//   - any other http(s)://: a page, requested with terraform-get=1, that names the full address of the
//     package in the header X-Terraform-Get, or in <meta name="terraform-get" content="..."> in its head. It
//     may have a //subdir, even a pattern that matches one directory.
//   - file:///x.zip: an archive on this machine. A directory is not fetched; see [addrs.ModulePackage.LocalDirectory].
//   - oci://HOST/REPOSITORY, with tag=TAG or digest=DIGEST, by default the tag "latest": the only layer of
//     the type "archive/zip" of an image manifest with the artifact type "application/vnd.opentofu.modulepkg"
//     (https://opentofu.org/docs/cli/oci_registries/module-package/).
//
// [Fetcher].Getters adds others, such as those in the packages s3, gcs and hg, and can replace these. All
// trees follow the same rules, those of [Link] and of package treewriter: regular files, directories and
// links inside of the tree, with safe names. Archives are refused if they are damaged, or if programs could
// read them in different ways.
//
// Servers may only point to https, to git over https or ssh, to oci, and to s3 and gcs over https, and
// packages not to files of this machine. Neither may point to this machine, to link-local addresses and the
// like, even through a name or a redirect, unless they are there themselves. GET requests follow at most 5
// redirects, and none from https to http. Credentials are sent only over https (or to this machine), not to
// another origin, and never appear in errors. Requests are retried after network failures and the statuses
// 429 and 5xx; a Retry-After of up to a minute delays all requests to the host, and a longer one is an error.
package getmodules
