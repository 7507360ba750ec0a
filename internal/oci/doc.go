// Package oci reads and writes OCI manifests, indexes and image layouts in the forms in which
// OpenTofu uses them for modules and providers. It sends no requests.
//
// # Module packages
//
// https://opentofu.org/docs/cli/oci_registries/module-package/ describes an image manifest:
//
//	artifactType  application/vnd.opentofu.modulepkg
//	layers        one of the type archive/zip: the package; layers of other types are ignored
//
// # Providers
//
// https://opentofu.org/docs/cli/oci_registries/provider-mirror/ describes a repository for each
// provider. Each version has a tag, without "v" and with "_" instead of "+"; see [VersionTag].
// The tag points to an image index, with an image manifest for each platform:
//
//	artifactType  application/vnd.opentofu.provider in the index,
//	              application/vnd.opentofu.provider-target in the manifests
//	layers        one of the type archive/zip: the archive of the provider
//
// # Rules
//
// [ParseManifest] and [ParseIndex] refuse documents that could be read in two ways: the media
// type in the document must be the one of the registry's answer, and a manifest has no manifests,
// nor an index layers. Digests are sha256 or sha512, with lower-case digits. An error is the
// reason alone ("its artifact type is ..."), to which callers add the error of their own API.
// Sizes are only checked to be positive: the limits are the callers'.
//
// # Image layouts
//
// A [Layout] is an OCI image layout in one tar file, which "oras cp --from-oci-layout" and
// "skopeo copy oci-archive:" read:
// https://github.com/opencontainers/image-spec/blob/v1.1.1/image-layout.md
//
//	oci-layout              the version of the layout
//	index.json              the manifests, with their tags
//	blobs/sha256/<digest>   manifests, configs and layers
//
// A tag is the annotation org.opencontainers.image.ref.name of a manifest in the index.
//
// [WriteLayout] is deterministic: it writes the files in a fixed order, without times and owners.
// [ReadLayout] also reads files of other programs if they have only regular files and
// directories, no compression, and digests with the algorithm sha256. The content of a blob is
// compared with its digest when it is read.
package oci
