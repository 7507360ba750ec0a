package getproviders

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"slices"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/net/httpx"
	"github.com/cotterpin/cotter/versions"
)

const maxMirrorVersions = 100_000

func isJSON(contentType string) bool {
	mediaType, _, err := mime.ParseMediaType(contentType)
	return (err == nil || errors.Is(err, mime.ErrInvalidMediaParameter)) && mediaType == "application/json"
}

// parseMirrorIndex parses {"versions": {"1.0.0": {}}}, sorted. Like stock tools, it skips other names.
func parseMirrorIndex(text []byte) ([]Version, error) {
	var index struct {
		Versions map[string]json.RawMessage `json:"versions"`
	}
	if err := httpx.Decode(text, &index); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalidMirror, err)
	}
	if len(index.Versions) > maxMirrorVersions {
		return nil, fmt.Errorf("%w: it lists %d versions; the limit is %d", ErrInvalidMirror, len(index.Versions), maxMirrorVersions)
	}
	var found []Version
	seen := make(map[versions.Version]bool) // "1.0" and "1.0.0" are the same version
	for name := range index.Versions {
		if v, ok := parseVersion(name); ok && !seen[v] {
			seen[v] = true
			found = append(found, Version{Version: v})
		}
	}
	slices.SortFunc(found, func(a, b Version) int {
		return cmp.Or(a.Version.Compare(b.Version), cmp.Compare(a.Version.String(), b.Version.String()))
	})
	return found, nil
}

type listedArchive struct {
	// url is absolute or relative to the document.
	url    string
	hashes []hashing.Hash
	// unusable is set if hashes are listed and all were skipped.
	unusable bool
}

// parseMirrorArchives parses a VERSION.json:
//
//	{"archives": {"linux_amd64": {"url": "x.zip", "hashes": ["h1:...", "zh:..."]}}}
//
// It skips names that are not platforms, and hashes that are malformed or of unknown schemes.
func parseMirrorArchives(text []byte) (map[addrs.Platform]listedArchive, error) {
	var document struct {
		Archives map[string]struct {
			URL    string   `json:"url"`
			Hashes []string `json:"hashes"`
		} `json:"archives"`
	}
	if err := httpx.Decode(text, &document); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalidMirror, err)
	}
	found := make(map[addrs.Platform]listedArchive, len(document.Archives))
	for name, archive := range document.Archives {
		platform, err := addrs.ParsePlatform(name)
		if err != nil {
			continue
		}
		listed := listedArchive{url: archive.URL}
		for _, written := range archive.Hashes {
			h, err := hashing.ParseHash(written)
			if err == nil && (h.Scheme() == "h1" || h.Scheme() == "zh") {
				listed.hashes = append(listed.hashes, h)
			}
		}
		listed.unusable = len(archive.Hashes) > 0 && len(listed.hashes) == 0
		listed.hashes = sorted(listed.hashes)
		found[platform] = listed
	}
	return found, nil
}

func countHashes(archives map[addrs.Platform]listedArchive) int {
	n := len(archives)
	for _, archive := range archives {
		n += len(archive.hashes)
	}
	return n
}
