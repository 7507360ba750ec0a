// Package storefetch gets modules and providers from stores. A store is a bundle or a mirror: it
// holds packages that a lock names, in addition to their origins. The packages are OCI artifacts
// in the format of package artifact.
//
// [Answers] requests each manifest and layer once per store, and sends nothing more to a store
// that has failed. It extracts packages into the user's cache and publishes them there under the
// hash of their content, even if that is not the expected one.
package storefetch
