package main

import (
	"fmt"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/bench/internal/report"
)

// The sizes of the world of providers.
const (
	providerCount = 6
	// archiveBytes is the number of random bytes in an archive, and about its size. unpackedBytes is the
	// size of the executable, whose other bytes are zeros.
	archiveBytes  = 20_000_000
	unpackedBytes = 60_000_000
)

// lockPlatforms begins with this machine's platform.
func lockPlatforms() []addrs.Platform {
	platforms := []addrs.Platform{addrs.CurrentPlatform()}
	for _, name := range []string{"linux_amd64", "linux_arm64", "darwin_arm64", "windows_amd64", "darwin_amd64"} {
		platform, err := addrs.ParsePlatform(name)
		if err == nil && platform != platforms[0] && len(platforms) < 4 {
			platforms = append(platforms, platform)
		}
	}
	return platforms
}

func withPlatforms(option string, args ...string) []string {
	for _, platform := range lockPlatforms() {
		args = append(args, option+"="+platform.String())
	}
	return args
}

// initializeFor installs providers in a project for a stock tool.
func initializeFor(tool string) commands {
	return commands{ours: []string{"install", "--for=" + tool}, stock: []string{"init", "-input=false"}}
}

// providersMeasured gives stock tools a plugin cache in the states in which it helps them.
func providersMeasured() world {
	initialize := initializeFor("tofu")
	lock := commands{ours: withPlatforms("--platform", "lock"), stock: withPlatforms("-platform", "providers", "lock")}
	states := []phase{
		{name: "cold"},
		{name: "lock, nothing installed, empty store", keepLock: true, prepared: true},
		{name: "lock, warm store, not installed", keepLock: true, keepCache: true, prepared: true, pluginCache: true},
		{name: "lock, installed", keepLock: true, keepCache: true, keepInstalled: true, prepared: true},
		{name: "no lock, warm store", keepCache: true, prepared: true, pluginCache: true},
		{name: "four projects at once, cold", projects: 4, pluginCache: true},
		{name: "four platforms", work: lock},
		{name: "four platforms, again", work: lock, keepLock: true, keepCache: true, prepared: true},
	}
	for i := range states {
		if states[i].work.ours == nil {
			states[i].work = initialize
		}
	}
	return world{
		name: "providers",
		about: fmt.Sprintf("%d providers of one registry, each with an archive of %d MB that contains one executable of %d MB. Two thirds of it are zeros",
			providerCount, archiveBytes/1_000_000, unpackedBytes/1_000_000),
		notes: []string{
			"The registry's address is in the CLI configuration, so no tool needs to discover it.",
			"With a warm store, and with four projects at once, stock tools use a plugin cache.",
			"Cotter runs with `--for=tofu`, so it links to its store.",
		},
		parts: []part{{start: startProviders, phases: states}},
		goals: providerGoals(states),
	}
}

// terraformProvidersMeasured is for projects for terraform, which get copies of providers.
func terraformProvidersMeasured() world {
	initialize := initializeFor("terraform")
	states := []phase{
		{name: "cold", work: initialize},
		{name: "lock, warm store, not installed", work: initialize, keepLock: true, keepCache: true, prepared: true, pluginCache: true},
		{name: "lock, installed", work: initialize, keepLock: true, keepCache: true, keepInstalled: true, prepared: true},
	}
	return world{
		name:  "terraform-providers",
		about: fmt.Sprintf("The %d providers of the world \"providers\", in a project for terraform (`--for=terraform`)", providerCount),
		notes: []string{
			"Terraform writes to installed providers, so Cotter copies them from its store. The disk cannot share blocks between files.",
			"With a warm store, terraform uses a plugin cache.",
		},
		terraformOnly: true,
		parts:         []part{{start: startProviders, phases: states}},
		goals: []report.Goal{
			report.FasterThan(states[0].name, "terraform", 2.5), report.MemoryBelow(states[0].name, 64),
			report.FasterThan(states[1].name, "terraform", 2), report.NoRequest(states[1].name), report.MemoryBelow(states[1].name, 64),
			report.FasterThan(states[2].name, "terraform", 20), report.NoRequest(states[2].name), report.MemoryBelow(states[2].name, 64),
		},
	}
}

// copiedProvidersMeasured is for a .terraform that goes to other machines, as from a CI job: Cotter copies the providers of
// a project for tofu too. Tofu has no plugin cache, with which it makes links.
func copiedProvidersMeasured() world {
	initialize := initializeFor("tofu")
	states := []phase{
		{name: "cold", work: initialize, copied: true},
		{name: "lock, warm store, not installed", work: initialize, copied: true, keepLock: true, keepCache: true, prepared: true},
		{name: "lock, installed", work: initialize, copied: true, keepLock: true, keepCache: true, keepInstalled: true, prepared: true},
	}
	return world{
		name:     "copied-providers",
		about:    fmt.Sprintf("The %d providers of the world \"providers\", in a project for tofu whose `.terraform` is carried to other machines (`COTTER_LAYOUT=copy`, the default in CI)", providerCount),
		notes:    []string{"Tofu has no plugin cache, so it downloads its copies."},
		tofuOnly: true,
		parts:    []part{{start: startProviders, phases: states}},
		goals: []report.Goal{
			report.FasterThan(states[0].name, "tofu", 1), report.FasterThan(states[1].name, "tofu", 1), report.NoRequest(states[1].name),
			report.FasterThan(states[2].name, "tofu", 1), report.NoRequest(states[2].name),
		},
	}
}

// providerGoals have factors for tofu and for terraform in each state.
func providerGoals(states []phase) []report.Goal {
	factors := [][2]float64{{1.3, 5}, {1.8, 6}, {4, 25}, {6, 20}, {4, 13}, {}, {2, 8}, {10, 40}}
	var goals []report.Goal
	for i, state := range states {
		if factors[i][0] > 0 {
			goals = append(goals, report.FasterThan(state.name, "tofu", factors[i][0]), report.FasterThan(state.name, "terraform", factors[i][1]))
		}
		switch {
		case state.keepLock && state.keepCache:
			goals = append(goals, report.NoRequest(state.name))
		case state.keepCache:
			goals = append(goals, report.RequestsPerPackage(state.name, providerCount, 4), report.ReceivedBelow(state.name, 1))
		case state.projects > 1:
			goals = append(goals, report.ReceivedBelow(state.name, 1.02*providerCount*archiveBytes/1e6), report.NoLongerThan(state.name, states[0].name, 1.3))
		}
		if i == 2 {
			goals = append(goals, report.DiskBelow(state.name, 1))
		}
		goals = append(goals, report.MemoryBelow(state.name, 64))
	}
	return goals
}

func providersConfig(host string) string {
	var b strings.Builder
	b.WriteString("terraform {\n  required_providers {\n")
	for i := range providerCount {
		fmt.Fprintf(&b, "    p%d = {\n      source  = \"%s/bench/p%d\"\n      version = \"~> 1.0\"\n    }\n", i, host, i)
	}
	b.WriteString("  }\n}\n")
	return b.String()
}
