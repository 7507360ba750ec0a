package gittags

import (
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/versions"
)

// Tag is a tag of a repository.
type Tag struct {
	// Name is the tag's name below refs/tags/.
	Name string
	// Revision is the commit that the tag points to.
	Revision string
}

// semver is the grammar of semver.org with an optional "v".
var semver = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^v?(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)` +
		`(-(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*))*)?` +
		`(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$`)
})

// Candidates returns the versions among the tags, for the module in a directory of the
// repository; "" is the root. Ref is the name of the tag, and Revision its commit.
func Candidates(tags []Tag, subdir string) []versions.Candidate {
	var plain, own []versions.Candidate
	prefixes := prefixesOf(subdir)
	for _, tag := range tags {
		if c, ok := candidate(tag, tag.Name); ok {
			plain = append(plain, c)
			continue
		}
		for _, prefix := range prefixes {
			rest, found := strings.CutPrefix(tag.Name, prefix)
			if c, ok := candidate(tag, rest); found && ok {
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

func candidate(tag Tag, version string) (versions.Candidate, bool) {
	if !semver().MatchString(version) {
		return versions.Candidate{}, false
	}
	v, err := versions.Parse(version)
	if err != nil { // a number is too large
		return versions.Candidate{}, false
	}
	return versions.Candidate{Version: v, Ref: tag.Name, Revision: tag.Revision}, true
}

// prefixesOf returns the prefixes of tags for a directory.
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
