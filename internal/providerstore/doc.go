// Package providerstore is the user's store of provider packages, by the hash of their
// archives, and the way from there into a project.
package providerstore
