package main

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/cmd/cotter/internal/cli"
	"github.com/cotterpin/cotter/policy"
)

// policyFlags returns the flags of every command that applies a policy. Their rules apply in
// addition to the policy in the project's file.
func policyFlags() []*cli.Flag {
	return []*cli.Flag{
		{Name: "policy", Type: cli.String, Usage: "apply the policy in `FILE` instead of the project's cotter.hcl", Env: "COTTER_POLICY"},
		{Name: "allow-source", Type: cli.Strings, Usage: "allow modules only from `HOST/PATH` and below; can be repeated"},
		{Name: "deny-source", Type: cli.Strings, Usage: "allow no modules from `HOST/PATH` and below; can be repeated"},
		{Name: "deny-branches", Usage: "refuse git sources that name a branch or no ref"},
		{Name: "require-version", Type: cli.String, Usage: "refuse calls without a version constraint (`HOW` is range), or without an exact version (exact)"},
		{Name: "deny-credentials", Usage: "refuse source addresses that contain credentials"},
		minAgeFlag(),
	}
}

func minAgeFlag() *cli.Flag {
	return &cli.Flag{Name: "min-age", Type: cli.Int, Usage: "skip versions published less than `DAYS` days ago, if the origin reports dates"}
}

// setPolicy reads the flags of policyFlags into a request.
func setPolicy(cmd *cli.Invocation, req *cotter.Request) (err error) {
	p := &policy.Policy{DenyBranches: cmd.Bool("deny-branches"), DenyCredentials: cmd.Bool("deny-credentials")}
	if p.Allow, err = patterns(cmd, "allow-source"); err != nil {
		return err
	}
	if p.Deny, err = patterns(cmd, "deny-source"); err != nil {
		return err
	}
	switch how := cmd.String("require-version"); how {
	case "":
	case "range":
		p.Versions = policy.VersionsRange
	case "exact":
		p.Versions = policy.VersionsExact
	default:
		return usageError{fmt.Errorf("--require-version takes \"range\" or \"exact\", got %q", how)}
	}
	days := cmd.Int("min-age")
	if days < 0 || days > policy.MaxAgeDays {
		return usageError{fmt.Errorf("--min-age takes a number of days from 0 to %d, got %d", policy.MaxAgeDays, days)}
	}
	p.MinAge = time.Duration(days) * 24 * time.Hour
	req.Policies = []*policy.Policy{p}
	if req.PolicyFile = cmd.String("policy"); req.PolicyFile != "" && !filepath.IsAbs(req.PolicyFile) {
		req.PolicyFile = filepath.Join(cmd.String("chdir"), req.PolicyFile)
	}
	return nil
}

func patterns(cmd *cli.Invocation, flag string) ([]policy.Pattern, error) {
	var found []policy.Pattern
	for _, text := range cmd.Strings(flag) {
		pattern, err := policy.ParsePattern(text)
		if err != nil {
			return nil, usageError{fmt.Errorf("--%s: %w", flag, err)}
		}
		found = append(found, pattern)
	}
	return found, nil
}
