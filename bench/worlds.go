package main

import (
	"fmt"
	"strings"

	"github.com/cotterpin/cotter/modtest"
)

// world is what the servers have and what a project asks of them.
type world struct {
	name, about string
	txtar       string
	opts        modtest.Options
	// roots are directories in it that are projects of their own; none means
	// that it is one project.
	roots []string
	// tofuOnly says that terraform does not know this kind of source.
	tofuOnly bool
	// phases are what is measured, one after another in one project.
	phases []phase
}

// phase is one state in which the commands run.
type phase struct {
	name string
	// keep says what is left of the runs before: the user's cache and the lock,
	// or the installed modules.
	keepCache, keepInstalled bool
}

var (
	cold  = phase{name: "cold"}
	warm  = phase{name: "fresh checkout with the lock, warm cache", keepCache: true}
	again = phase{name: "again, nothing changed", keepCache: true, keepInstalled: true}
)

func worlds() []world {
	return []world{
		{
			name:   "registry",
			about:  "40 registry calls on 20 packages in git, half of which call another one",
			txtar:  registryWorld(20, 40),
			phases: []phase{cold, warm, again},
		},
		{
			name:   "archives",
			about:  "40 calls of 40 archives",
			txtar:  archiveWorld(40),
			phases: []phase{cold, warm, again},
		},
		{
			name:   "monorepo",
			about:  "100 calls into one git package of 20 MB",
			txtar:  monorepoWorld(100, 20<<20),
			phases: []phase{cold, warm, again},
		},
		{
			name:     "oci",
			about:    "40 calls of 40 packages in an OCI registry",
			txtar:    ociWorld(40),
			tofuOnly: true,
			phases:   []phase{cold, warm, again},
		},
		{
			name:   "roots",
			about:  fmt.Sprintf("%d root modules with 4 registry calls each on 40 packages in git; one command for all of them, a loop for stock tools", manyRoots),
			txtar:  rootsWorld(manyRoots, 40),
			roots:  rootNames(manyRoots),
			phases: []phase{cold},
		},
	}
}

const manyRoots = 300

func rootNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("root%03d", i)
	}
	return names
}

// rootsWorld has projects that share packages.
func rootsWorld(roots, packages int) string {
	var b strings.Builder
	for i, name := range rootNames(roots) {
		fmt.Fprintf(&b, "-- config/%s/main.tf --\n", name)
		for call := range 4 {
			fmt.Fprintf(&b, "module \"m%d\" {\n  source  = \"MODTEST_HOST/acme/p%d/aws\"\n  version = \"~> 1.0\"\n}\n", call, (i+call*7)%packages)
		}
	}
	for i := range packages {
		fmt.Fprintf(&b, "-- registry/acme/p%d/aws/1.2.0/main.tf --\n-- registry/acme/p%d/aws/1.2.0/README.md --\n%s\n", i, i, filler(4<<10, i))
	}
	return b.String()
}

func ociWorld(calls int) string {
	var b strings.Builder
	b.WriteString("-- config/main.tf --\n")
	for i := range calls {
		fmt.Fprintf(&b, "module \"m%d\" {\n  source = \"oci://MODTEST_HOST/p%d?tag=1.0.0\"\n}\n", i, i)
	}
	for i := range calls {
		fmt.Fprintf(&b, "-- oci/p%d/1.0.0/main.tf --\noutput \"n\" {\n  value = %d\n}\n", i, i)
		fmt.Fprintf(&b, "-- oci/p%d/1.0.0/README.md --\n%s\n", i, filler(16<<10, i))
	}
	return b.String()
}

// registryWorld has packages that call the next one each, and calls of them.
func registryWorld(packages, calls int) string {
	var b strings.Builder
	b.WriteString("-- config/main.tf --\n")
	for i := range calls {
		fmt.Fprintf(&b, "module \"m%d\" {\n  source  = \"MODTEST_HOST/acme/p%d/aws\"\n  version = \"~> 1.0\"\n}\n", i, i%packages)
	}
	for i := range packages {
		for _, version := range []string{"0.9.0", "1.0.0", "1.2.0"} {
			fmt.Fprintf(&b, "-- registry/acme/p%d/aws/%s/main.tf --\n", i, version)
			if i%2 == 0 {
				fmt.Fprintf(&b, "module \"next\" {\n  source  = \"MODTEST_HOST/acme/p%d/aws\"\n  version = \"~> 1.0\"\n}\n", i+1)
			}
			fmt.Fprintf(&b, "-- registry/acme/p%d/aws/%s/README.md --\n%s\n", i, version, filler(4<<10, i))
		}
	}
	return b.String()
}

func archiveWorld(calls int) string {
	var b strings.Builder
	b.WriteString("-- config/main.tf --\n")
	for i := range calls {
		fmt.Fprintf(&b, "module \"m%d\" {\n  source = \"https://MODTEST_HOST/archives/a%d.zip\"\n}\n", i, i)
	}
	for i := range calls {
		fmt.Fprintf(&b, "-- archives/a%d.zip/main.tf --\noutput \"n\" {\n  value = %d\n}\n", i, i)
		fmt.Fprintf(&b, "-- archives/a%d.zip/README.md --\n%s\n", i, filler(16<<10, i))
	}
	return b.String()
}

// monorepoWorld has one repository with a module for every call and size bytes
// of other files.
func monorepoWorld(calls, size int) string {
	var b strings.Builder
	b.WriteString("-- config/main.tf --\n")
	for i := range calls {
		fmt.Fprintf(&b, "module \"m%d\" {\n  source = \"git::https://MODTEST_HOST/git/mono.git//modules/m%d?ref=v1.0.0\"\n}\n", i, i)
	}
	for i := range calls {
		fmt.Fprintf(&b, "-- git/mono.git/v1.0.0/modules/m%d/main.tf --\noutput \"n\" {\n  value = %d\n}\n", i, i)
	}
	const file = 64 << 10
	for i := range size / file {
		fmt.Fprintf(&b, "-- git/mono.git/v1.0.0/docs/d%d.txt --\n%s\n", i, filler(file, i))
	}
	return b.String()
}

// filler is text of a size that does not compress to nothing.
func filler(size, seed int) string {
	var b strings.Builder
	state := uint64(seed)*2654435761 + 88172645463325252
	for b.Len() < size {
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
		fmt.Fprintf(&b, "%016x\n", state)
	}
	return b.String()[:size]
}
