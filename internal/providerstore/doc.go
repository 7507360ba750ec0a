// Package providerstore is the user's store of provider packages, shared by all
// projects and processes of one user, and the way from there into a project.
//
//	package/<h1, hex>       unpacked packages; read-only
//	stage/<random>/         a process's staging directory; locked by it
//	quarantine/<random>     packages that do not have the hash of their name
//	fetch/<zh, hex>         locked by the process that downloads this archive
//	memo/<code>             what is known of archives, versions and packages; sealed
package providerstore
