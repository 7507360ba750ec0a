// Package gittags reads the versions that a git repository offers out of its
// tags.
//
// A tag is a version if it is a semantic version (semver.org, version 2.0.0)
// with all three numbers, written with or without a "v": "1.2.0", "v1.2.0-rc.1".
// Everything else is no version: "v1", "release-1.2.0", "1.2.0.1".
//
// Repositories with several modules tag each of them by itself. For a module in
// the directory "modules/network" these tags are versions as well, with "v" or
// without:
//
//	network/v1.2.0          modules/network/v1.2.0
//	network-v1.2.0          modules/network-v1.2.0
//
// Where there is any such tag, only such tags count for that directory: the
// repository versions its modules one by one, and the plain tags are about
// something else.
//
// One version may have several tags, as "1.2.0" and "v1.2.0". All of them are
// candidates, and versions.Select refuses to choose between different commits.
//
// The package does not talk to repositories: the caller lists the
// tags, with the commits that they point to, annotated tags peeled.
package gittags
