package versions

import (
	"path"
	"strings"

	"github.com/cotterpin/cotter/internal/text/lazyregexp"
)

// GitTag is a tag of a git repository.
type GitTag struct {
	// Name is the tag's name below refs/tags/.
	Name string
	// Revision is the commit that the tag points to. Annotated tags are peeled.
	Revision string
}

// semverTag is the grammar of semver.org with an optional "v".
var semverTag = lazyregexp.New(`^v?(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)` +
	`(-(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*))*)?` +
	`(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$`)

func parseTag(tag string) (Version, bool) {
	if !semverTag().MatchString(tag) {
		return Version{}, false
	}
	v, err := Parse(tag)
	return v, err == nil // numbers that are too large are an error
}

// FromGitTags returns the versions among the tags of a git repository, for the module in the directory
// subdir; "" is the root. Ref is the name of the tag, and Revision its commit.
//
// A tag is a version if it is a semantic version (semver.org, version 2.0.0) with all three numbers, with
// or without a leading "v": "v1.2.0-rc.1", but not "v1", "release-1.2.0" or "1.2.0.1".
//
// For the directory "modules/network", tags of these forms are also versions, with or without "v":
//
//	network/v1.2.0          modules/network/v1.2.0
//	network-v1.2.0          modules/network-v1.2.0
//
// If any such tag exists, only these are used for that directory, because the repository versions its
// modules separately. All tags of one version are candidates; [Select] refuses to choose between
// different commits.
func FromGitTags(tags []GitTag, subdir string) []Candidate {
	var plain, own []Candidate
	prefixes := prefixesOf(subdir)
	for _, tag := range tags {
		if c, ok := gitCandidate(tag, tag.Name); ok {
			plain = append(plain, c)
			continue
		}
		for _, prefix := range prefixes {
			rest, found := strings.CutPrefix(tag.Name, prefix)
			if c, ok := gitCandidate(tag, rest); found && ok {
				own = append(own, c)
				break
			}
		}
	}
	if len(own) > 0 {
		return own
	}
	return plain
}

func gitCandidate(tag GitTag, version string) (Candidate, bool) {
	v, ok := parseTag(version)
	return Candidate{Version: v, Ref: tag.Name, Revision: tag.Revision}, ok
}

func prefixesOf(subdir string) []string {
	subdir = strings.Trim(path.Clean(subdir), "/")
	if subdir == "." || subdir == "" {
		return nil
	}
	base := path.Base(subdir)
	prefixes := []string{subdir + "/", subdir + "-"}
	if base != subdir {
		prefixes = append(prefixes, base+"/", base+"-")
	}
	return prefixes
}
