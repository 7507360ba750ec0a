// Package gittags finds the versions among the tags of a git repository.
//
// A tag is a version if it is a semantic version (semver.org, version 2.0.0) with all three
// numbers, with or without a leading "v": "1.2.0", "v1.2.0-rc.1". Other tags are not
// versions: "v1", "release-1.2.0", "1.2.0.1".
//
// Repositories with several modules can have tags for each module. For a module in the
// directory "modules/network", tags of these forms are also versions, with or without "v":
//
//	network/v1.2.0          modules/network/v1.2.0
//	network-v1.2.0          modules/network-v1.2.0
//
// If any such tag exists, only tags of these forms are used for that directory, because the
// repository versions its modules separately.
//
// One version can have several tags, such as "1.2.0" and "v1.2.0". All of them are
// candidates, and versions.Select refuses to choose between different commits.
//
// The package sends no requests. The caller lists the tags with the commits that they point
// to. Annotated tags must be peeled.
package gittags
