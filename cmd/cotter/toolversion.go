package main

import (
	"context"
	"encoding/json"
	"os/exec"
	"strings"
	"time"

	"github.com/cotterpin/cotter/internal/cli/repository"
	"github.com/cotterpin/cotter/internal/process/procgroup"
	"github.com/cotterpin/cotter/versions"
)

// warnOfVersion warns if the tofu in PATH will stop at the configuration. Few projects say which version they
// need, so tofu is seldom asked.
func (o *output) warnOfVersion(ctx context.Context, req request) {
	var has versions.Version
	for _, text := range repository.CompatibleWith(ctx, req.Project) {
		want, err := versions.ParseConstraints(text)
		if err != nil {
			return // tofu reports it
		}
		if has.IsZero() {
			if has = tofuVersion(ctx, o.Env); has.IsZero() {
				return
			}
		}
		if !want.Allows(has) {
			o.warnf("tofu will stop here: it has version %s, and the configuration is compatible with %s", has, want)
			return
		}
	}
}

// tofuVersion returns the version of the tofu in PATH, without "-dev" and the like, or zero.
func tofuVersion(ctx context.Context, env func(string) string) versions.Version {
	path := procgroup.Find([]string{"PATH=" + env("PATH")}, "tofu")
	if path == "" {
		return versions.Version{}
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	var said struct {
		Version string `json:"terraform_version"`
	}
	text, err := exec.CommandContext(ctx, path, "version", "-json").Output()
	if err != nil || json.Unmarshal(text, &said) != nil {
		return versions.Version{}
	}
	core, _, _ := strings.Cut(said.Version, "-")
	found, _ := versions.Parse(core)
	return found
}
