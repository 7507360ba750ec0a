// Package ocitags finds the versions among the tags of a repository of an OCI
// registry.
//
// A tag is a version if it is a semantic version (semver.org, version 2.0.0)
// with all three numbers, written with or without a "v": "1.2.0", "v1.2.0-rc.1".
// A tag cannot contain "+", so the first "_" stands for it: "1.2.0_build.5" is the
// version 1.2.0+build.5. Other tags are not versions: "latest", "v1",
// "release-1.2.0", "1.2.0.1".
//
// The package sends no requests: [List] gets the tags page by page from a
// [TagLister].
//
// # One version, several tags
//
// One version can have several tags, such as "1.2.0" and "v1.2.0". All of them are
// candidates. The list of tags has no digests, so candidates have no Revision, and
// versions.Select selects the tag that sorts first, "1.2.0". To verify that the other
// tags have the same digest, callers get them from [Same], set their digests as
// Revision, and call Select again with these: Select refuses to choose between
// different revisions. This takes one request for each tag, and only if a version has
// more than one.
//
// # Limits
//
//   - 1,000 pages and 100,000 tags. More are an error, and so is a page on which all
//     tags have been listed before.
//   - Tags of more than 128 bytes are invalid, and are not versions.
package ocitags
