package installer_test

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/modtest"
)

// The files of real repositories are changed where they need something that is not here: other
// versions of the stock tools, commits and hashes of real packages.

var requiredVersion = regexp.MustCompile(`(?m)^(\s*required_version\s*=\s*)"[^"\n]*"`)

// withoutRequiredVersion makes every version of the stock tools acceptable, since only one of each
// is here.
func withoutRequiredVersion(text []byte) []byte {
	return requiredVersion.ReplaceAll(text, []byte(`$1">= 0.12"`))
}

var (
	terraformBlock  = regexp.MustCompile(`(?ms)^terraform\b[^\n]*\{.*?^\}`)
	providerVersion = regexp.MustCompile(`(version"?\s*[=:]\s*)"[^"\n]*"`)
)

// withoutProviderVersions makes every version of the providers acceptable. Packages have their
// newest content in all of their versions, which would exclude root modules with older providers.
func withoutProviderVersions(text []byte) []byte {
	return terraformBlock.ReplaceAllFunc(text, func(block []byte) []byte {
		return providerVersion.ReplaceAll(block, []byte(`$1">= 0.1"`))
	})
}

var gitSource = regexp.MustCompile(`"[^"\n]*[?&]ref=[0-9a-f]{40}[^"\n]*"`)

// withTagsOfCommits replaces commits in module sources by the tags that stand for them.
func withTagsOfCommits(text []byte) []byte {
	return gitSource.ReplaceAllFunc(text, func(quoted []byte) []byte {
		return bytes.Replace(quoted, []byte("ref="), []byte("ref=commit-"), 1)
	})
}

func withMadeUpCommits(world *modtest.World, text []byte) []byte {
	return gitSource.ReplaceAllFunc(text, func(quoted []byte) []byte {
		parsed, err := addrs.ParseModuleSource(strings.Trim(string(quoted), `"`))
		remote, ok := parsed.(addrs.ModuleSourceRemote)
		if err != nil || !ok {
			return quoted
		}
		at, err := remote.Package.Location()
		if err != nil {
			return quoted
		}
		address := at.URL()
		ref := address.Query().Get("ref")
		commit, err := world.Commit(gitName(address.Host, address.Path), madeUpTag(ref))
		if err != nil {
			return quoted
		}
		return []byte(strings.Replace(string(quoted), ref, commit, 1))
	})
}

var (
	lockBlock   = regexp.MustCompile(`(?m)^provider "([^"]+)" \{[^}]*\}`)
	lockVersion = regexp.MustCompile(`(?m)^\s*version\s*=\s*"([^"]+)"`)
	lockHash    = regexp.MustCompile(`[ \t]*"(h1|zh):[^"\n]*",?[ \t]*\r?\n?`)
)

// withMadeUpHashes replaces the hashes of real packages in a lock by as many of those that the
// world makes up. If an entry has the hash of one platform's package, that is this platform or
// another one, depending on foreign. Everything else in the lock stays as it is.
func withMadeUpHashes(world *modtest.World, text []byte, foreign bool) []byte {
	return lockBlock.ReplaceAllFunc(text, func(block []byte) []byte {
		address, err := addrs.ParseProviderSource(string(lockBlock.FindSubmatch(block)[1]))
		version := lockVersion.FindSubmatch(block)
		if err != nil || version == nil {
			return block
		}
		var h1, zh []string
		for _, platform := range madeUpOrder {
			one, two, err := world.ProviderHashes(address.Namespace+"/"+address.Type, string(version[1]), platform)
			if err != nil {
				return block
			}
			h1, zh = append(h1, string(one)), append(zh, string(two))
		}
		if foreign && strings.Count(string(block), `"h1:`) == 1 {
			h1 = h1[1:]
		}
		h1 = h1[:min(len(h1), strings.Count(string(block), `"h1:`))]
		zh = zh[:min(len(zh), strings.Count(string(block), `"zh:`))]
		slices.Sort(h1)
		slices.Sort(zh)
		hashes := slices.Compact(append(h1, zh...))
		return lockHash.ReplaceAllFunc(block, func(line []byte) []byte {
			if len(hashes) == 0 {
				return nil
			}
			old := lockHashText.Find(line)
			line = []byte(strings.Replace(string(line), string(old), hashes[0], 1))
			hashes = hashes[1:]
			return line
		})
	})
}

var lockHashText = regexp.MustCompile(`(h1|zh):[^"]*`)

// madeUpOrder are the platforms in the order in which they get into locks.
var madeUpOrder = []string{
	"linux_amd64", "darwin_arm64", "darwin_amd64", "linux_arm64", "windows_amd64", "freebsd_386", "freebsd_amd64",
	"freebsd_arm", "linux_386", "linux_arm", "windows_386", "windows_arm64",
}
