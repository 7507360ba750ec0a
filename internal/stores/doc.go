// Package stores gets modules and providers from stores: bundles and mirrors, which have the
// packages of locks besides their origins, as OCI artifacts in the form of package modpkg.
//
// A [Session] asks each store once for each manifest and layer, and does not ask again a
// store that has failed. Packages are extracted into the user's cache and published there
// under their own hash, whichever that is.
package stores
