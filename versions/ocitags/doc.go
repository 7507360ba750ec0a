// Package ocitags finds the versions among the tags of a repository in an OCI registry.
//
// A tag is a version if it is a semantic version (semver.org, version 2.0.0) with all three
// numbers, with or without a leading "v": "1.2.0", "v1.2.0-rc.1". A tag cannot contain "+",
// so the first "_" stands for it: "1.2.0_build.5" is the version 1.2.0+build.5. Other tags
// are not versions: "latest", "v1", "release-1.2.0", "1.2.0.1".
//
// The package sends no requests itself: [List] gets the tags page by page from a
// [TagLister].
//
// # One version, several tags
//
// One version can have several tags, such as "1.2.0" and "v1.2.0". All of them are
// candidates. The list of tags has no digests, so candidates have no Revision, and
// versions.Select selects the tag that sorts first, "1.2.0". To verify that the other tags
// have the same digest, callers get all candidates of the version from [Same] and set their
// digests as Revision. Then they call Select again with these candidates, and Select
// refuses to choose between different revisions. This takes one request for each tag, and
// only if a version has more than one tag.
//
// # Limits
//
//   - 1,000 pages and 100,000 tags. Exceeding them is an error. A page whose tags were all
//     listed before is also an error.
//   - Tags of more than 128 bytes are invalid, and are not versions.
package ocitags
