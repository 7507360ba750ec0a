package evidencerules_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/rules/evidencerules"
)

// table returns the rules as a table in Markdown, a row for each run. The documentation of
// package evidence and docs/spec/trust.md contain it.
func table() string {
	var b strings.Builder
	b.WriteString("| run | module | provider | earlier evidence | no evidence | moved version tag | commit outside the history | history unknown |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|\n")
	for _, row := range []struct {
		name    string
		run     evidencerules.Run
		lacking string // what happens without enough evidence
	}{
		{"`install`, `init`, `update`, `lock`, `lock --check`", evidencerules.Install, "refused"},
		{"`install --locked`, `init -lockfile=readonly`", evidencerules.Locked, "refused"},
		{"`mirror push`, `bundle create`", evidencerules.Publish, "refused"},
		{"`verify`", evidencerules.Verify, "listed"},
		{"`verify --remote`", evidencerules.VerifyRemote, "refused"},
		{"`diff`", evidencerules.Diff, "-"},
		{"`lock --offline`", evidencerules.Restore, "-"},
		{"`install` and `verify` with `Options.TrustInstalled`, for installed packages", evidencerules.TrustInstalled, "-"},
	} {
		r := evidencerules.For(row.run)
		memos := "-"
		if r.Memos {
			memos = "counts"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s |\n",
			row.name, nameOf(r.Module), nameOf(r.Provider), memos, row.lacking, responses[r.MovedTag], responses[r.Unreachable], responses[r.Unknown])
	}
	return b.String()
}

var responses = [...]string{evidencerules.Refuse: "refused", evidencerules.Warn: "warning", evidencerules.Report: "listed", evidencerules.Ignore: "-"}

func nameOf(set []evidence.Kind) string {
	switch {
	case len(set) == 0:
		return "-"
	case slices.Contains(set, evidence.None):
		return "anything"
	case slices.Contains(set, evidence.Installed) && slices.Contains(set, evidence.Project):
		return "installed, confirmed or brought"
	case slices.Contains(set, evidence.Installed):
		return "installed or confirmed"
	case slices.Contains(set, evidence.Project):
		return "confirmed or brought"
	case slices.Contains(set, evidence.User):
		return "confirmed"
	case slices.Contains(set, evidence.Mirror):
		return "origin or mirror"
	}
	return "origin"
}
