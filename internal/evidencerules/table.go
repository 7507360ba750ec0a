package evidencerules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/installer/evidence"
)

// Table returns the rules as a table in Markdown, a row for each run. The documentation of
// package evidence and docs/security.md contain it.
func Table() string {
	var b strings.Builder
	b.WriteString("| run | module | provider | earlier evidence | no evidence | moved version tag | commit outside the history | history unknown |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|\n")
	for _, row := range rows {
		r := rules[row.runs[0]]
		memos := "-"
		if r.Memos {
			memos = "counts"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s |\n",
			row.name, nameOf(r.Module), nameOf(r.Provider), memos, r.Lacking, r.MovedTag, r.Unreachable, r.Unknown)
	}
	return b.String()
}

// rows are the rows of the table. The runs of a row have the same rule.
var rows = []struct {
	name string
	runs []Run
}{
	{"`install`, `init`, `update`, `lock`, `lock --check`", []Run{Install, Update, Lock, LockCheck}},
	{"`install --locked`, `init -lockfile=readonly`", []Run{Locked}},
	{"`mirror push`, `bundle create`", []Run{Publish}},
	{"`verify`", []Run{Verify}},
	{"`verify --remote`", []Run{VerifyRemote}},
	{"`diff`", []Run{Diff}},
	{"`lock --offline`", []Run{Restore}},
	{"installs and `verify` with `Options.TrustInstalled`, for what is installed", []Run{TrustInstalled}},
}

func nameOf(set []evidence.Kind) string {
	switch {
	case len(set) == 0:
		return "-"
	case slices.Contains(set, evidence.None):
		return "anything"
	case slices.Contains(set, evidence.Installed):
		return "installed, confirmed or brought"
	case slices.Contains(set, evidence.Project):
		return "confirmed or brought"
	case slices.Contains(set, evidence.User):
		return "confirmed"
	case slices.Contains(set, evidence.Mirror):
		return "origin or mirror"
	}
	return "origin"
}
