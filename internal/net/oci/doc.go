// Package oci reads and writes OCI manifests, indexes and image layouts in the forms in which OpenTofu uses
// them for modules and providers (https://opentofu.org/docs/cli/oci_registries/module-package/ and
// https://opentofu.org/docs/cli/oci_registries/provider-mirror/). It sends no requests.
//
// [ParseManifest] and [ParseIndex] refuse documents that could be read in two ways: the media type in the
// document must be that of the registry's answer, and a manifest has no manifests, nor an index layers.
// Digests are sha256 or sha512, with lower-case digits. An error is the reason alone ("its artifact type
// is ..."), to which callers add the error of their own API. Sizes are only checked to be positive: the
// limits are the callers'.
package oci
