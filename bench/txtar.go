package main

import (
	"fmt"
	"strings"
)

func rootNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("root%03d", i)
	}
	return names
}

// rootsWorld has many projects that share packages.
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

// flatWorld has calls of different modules with readmes. In source and dir, the module's directory, %d
// stands for the number of the call.
func flatWorld(calls int, source, dir string, readme int) string {
	var b strings.Builder
	b.WriteString("-- config/main.tf --\n")
	for i := range calls {
		fmt.Fprintf(&b, "module \"m%d\" {\n  source = %q\n}\n", i, fmt.Sprintf(source, i))
	}
	for i := range calls {
		at := fmt.Sprintf(dir, i)
		fmt.Fprintf(&b, "-- %s/main.tf --\noutput \"n\" {\n  value = %d\n}\n", at, i)
		if readme > 0 {
			fmt.Fprintf(&b, "-- %s/README.md --\n%s\n", at, filler(readme, i))
		}
	}
	return b.String()
}

// docsWorld returns files to add to the repository of a flatWorld.
func docsWorld(size int) string {
	var b strings.Builder
	const file = 64 << 10
	for i := range size / file {
		fmt.Fprintf(&b, "-- git/mono.git/v1.0.0/docs/d%d.txt --\n%s\n", i, filler(file, i))
	}
	return b.String()
}

// filesWorld has a package with many files, 100 in each directory.
func filesWorld(files int) string {
	var b strings.Builder
	b.WriteString("-- config/main.tf --\nmodule \"m\" {\n  source = \"git::https://MODTEST_HOST/git/files.git?ref=v1.0.0\"\n}\n" +
		"-- git/files.git/v1.0.0/main.tf --\noutput \"n\" {\n  value = 1\n}\n")
	for i := range files {
		fmt.Fprintf(&b, "-- git/files.git/v1.0.0/docs/d%03d/f%d.txt --\n%s\n", i/100, i, filler(200, i))
	}
	return b.String()
}

// registryWorld has packages in a registry, of which every second calls the next.
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

// ciWorld has packages in a registry, each of which calls another one.
func ciWorld(packages, calls int) string {
	const call = "module \"%s\" {\n  source  = \"MODTEST_HOST/acme/%s/aws\"\n  version = \"~> 1.0\"\n}\n"
	var b strings.Builder
	b.WriteString("-- config/main.tf --\n")
	for i := range calls {
		fmt.Fprintf(&b, call, fmt.Sprintf("m%d", i), fmt.Sprintf("p%d", i%packages))
	}
	for i := range packages {
		for _, version := range []string{"0.9.0", "1.0.0", "1.2.0"} {
			fmt.Fprintf(&b, "-- registry/acme/p%d/aws/%s/main.tf --\n"+call, i, version, "nested", fmt.Sprintf("n%d", i))
			fmt.Fprintf(&b, "-- registry/acme/p%d/aws/%s/README.md --\n%s\n", i, version, filler(4<<10, i))
			fmt.Fprintf(&b, "-- registry/acme/n%d/aws/%s/README.md --\n%s\n", i, version, filler(4<<10, packages+i))
		}
	}
	return b.String()
}

// chainsWorld has chains of packages in which each calls the next; the project calls the first ones.
func chainsWorld(chains, depth int) string {
	const call = "module \"%s\" {\n  source  = \"MODTEST_HOST/acme/c%dp%d/aws\"\n  version = \"~> 1.0\"\n}\n"
	var b strings.Builder
	b.WriteString("-- config/main.tf --\n")
	for chain := range chains {
		fmt.Fprintf(&b, call, fmt.Sprintf("m%d", chain), chain, 0)
	}
	for chain := range chains {
		for i := range depth {
			for _, version := range []string{"0.9.0", "1.0.0", "1.2.0"} {
				at := fmt.Sprintf("registry/acme/c%dp%d/aws/%s", chain, i, version)
				fmt.Fprintf(&b, "-- %s/main.tf --\n", at)
				if i+1 < depth {
					fmt.Fprintf(&b, call, "next", chain, i+1)
				}
				fmt.Fprintf(&b, "-- %s/README.md --\n%s\n", at, filler(4<<10, chain*depth+i))
			}
		}
	}
	return b.String()
}

// graphWorld has 10,000 calls: 100 of 20 packages in the project, in each nine of 20 other packages, and in
// each of those ten of modules in its own directories.
func graphWorld() string {
	const packages, calls, nested, local = 20, 100, 9, 10
	const source = "  source = \"git::https://MODTEST_HOST/git/%s%d.git?ref=v1.0.0\"\n"
	var b strings.Builder
	b.WriteString("-- config/main.tf --\n")
	for i := range calls {
		fmt.Fprintf(&b, "module \"m%d\" {\n"+source+"}\n", i, "a", i%packages)
	}
	for i := range packages {
		fmt.Fprintf(&b, "-- git/a%d.git/v1.0.0/main.tf --\n", i)
		for j := range nested {
			fmt.Fprintf(&b, "module \"n%d\" {\n"+source+"}\n", j, "b", (i+j)%packages)
		}
		fmt.Fprintf(&b, "-- git/b%d.git/v1.0.0/main.tf --\n", i)
		for j := range local {
			fmt.Fprintf(&b, "module \"l%d\" {\n  source = \"./modules/l%d\"\n}\n", j, j)
		}
		for j := range local {
			writeModule(&b, fmt.Sprintf("git/b%d.git/v1.0.0/modules/l%d", i, j))
		}
	}
	return b.String()
}

func writeModule(b *strings.Builder, dir string) {
	fmt.Fprintf(b, "-- %s/main.tf --\n%s-- %s/variables.tf --\n", dir, resources(5), dir)
	for _, name := range []string{"zones", "cidr", "tags", "prefix"} {
		fmt.Fprintf(b, "variable %q {\n  description = \"What stands for %s.\"\n  default     = null\n}\n\n", name, name)
	}
	fmt.Fprintf(b, "-- %s/outputs.tf --\noutput \"ids\" {\n  value = aws_subnet.s0[*].id\n}\n-- %s/README.md --\n%s\n", dir, dir, filler(2<<10, len(dir)))
}

func resources(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "resource \"aws_subnet\" \"s%d\" {\n  count      = length(var.zones)\n  cidr_block = cidrsubnet(var.cidr, 8, count.index)\n"+
			"  tags       = merge(var.tags, { Name = \"${var.prefix}-%d\" })\n}\n\n", i, i)
	}
	return b.String()
}

// refsWorld calls the newest version in a git repository.
func refsWorld() string {
	return "-- config/main.tf --\nmodule \"m\" {\n  source = \"git::https://MODTEST_HOST/git/many.git?version=~> 1.0\"\n}\n" +
		"-- git/many.git/v1.0.0/main.tf --\noutput \"n\" {\n  value = 1\n}\n"
}

// filler does not compress well.
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
