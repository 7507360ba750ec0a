// Package gittest has git repositories and a git server for tests, which would otherwise spend most of
// their time on starting processes. A [Repository] writes loose objects and refs without git and without
// checks, so that tests can write data that git refuses. A [Handler] answers a git fetch.
package gittest
