// Package ocitags reads the versions that a repository of an OCI registry offers
// out of its tags.
//
// A tag is a version if it is a semantic version (semver.org, version 2.0.0)
// with all three numbers, written with or without a "v": "1.2.0", "v1.2.0-rc.1".
// As "+" cannot be in a tag, the first "_" stands for it: "1.2.0_build.5" is the
// version 1.2.0+build.5. Everything else is no version: "latest", "v1",
// "release-1.2.0", "1.2.0.1".
//
// The package does not talk to registries: [List] gets the tags page by page
// from whoever does.
//
// # One version, several tags
//
// One version may have several tags, as "1.2.0" and "v1.2.0". All of them are
// candidates. The list of a repository does not say what its tags point to, so
// candidates have no Revision, and versions.Select takes the tag that sorts
// first, "1.2.0". Who wants to be sure that the others are the same gets them by
// [Same], fills in their digests as Revision, and selects again among these:
// Select refuses to choose between different revisions. That takes one request
// for a tag, and only if a version has more than one.
//
// # Limits
//
//   - 1,000 pages and 100,000 tags; more are an error, as is a page with nothing
//     but tags that came before.
//   - Tags of more than 128 bytes are invalid, so they are no versions.
package ocitags
