// Package gittest has git repositories and a git server for tests and their servers, which would
// otherwise spend most of their time on starting processes.
//
// A [Repository] writes the objects and refs of a bare repository without git. Objects are written
// loose, in one file each (gitformat-loose, "objects" in gitrepository-layout(5)). Nothing is
// checked, so that tests can write data that git refuses.
//
// A [Handler] answers the requests of a git fetch like git http-backend, but with fewer processes.
package gittest
