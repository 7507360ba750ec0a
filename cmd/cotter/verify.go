package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/cli/advice"
	"github.com/cotterpin/cotter/internal/cli/records"
	"github.com/cotterpin/cotter/internal/cli/view"
	"github.com/spf13/cobra"
)

func verifyCommand(out *output) *cobra.Command {
	return command(out, &cobra.Command{
		Use:   "verify [DIR...]",
		Short: "compare what is installed with the lock, without network access",
		Long: "Reads every installed file. Changed files, missing files and added configuration files\n" +
			"are failures; other added files are only listed. Packages that nothing outside this\n" +
			"repository has confirmed are named. With --remote it also asks the origins what tags,\n" +
			"branches and registries point to now, and compares content that no origin has confirmed.\n" +
			"\n" +
			"The exit status is 1 if a package was changed or is not installed, another version of it\n" +
			"is installed, modules.json points elsewhere, something could not be read or compared,\n" +
			"the lock does not fit the configuration, the policy refuses something, an origin has\n" +
			"other content, or CI is set and nothing has confirmed an entry of the lock on this\n" +
			"machine. --json tells these apart.",
	}, runVerify, configFlags(severalFlags(append(evidenceFlags(), policyFlag(),
		toggle("remote", "ask the origins whether they still have the locked content"),
	)...)...))
}

var (
	errNotVerified = advice.Advised("the installed files differ from the lock", advice.Repair)
	errNoneFound   = advice.Advised("nothing is installed here yet", advice.InstallLocked)
	errSomeMissing = advice.Advised("locked packages are not installed", advice.InstallMissing)
	errFormer      = advice.Advised("other packages are installed than the lock has", advice.InstallLocked)
	errStale       = advice.Advised("the lock is not for this configuration", advice.UpdateLock)
	errUnconfirmed = advice.Advised("not all entries of the lock are confirmed", advice.ConfirmEntries)
	errUnread      = errors.New("part of the configuration could not be read, so it was not compared with the lock")
	errTwoForms    = errors.New("the lock is for only one of two configurations")
	errOutside     = errors.New("packages are replaced by directories outside of the repository")
	errPolicy      = errors.New("the configuration or the lock violates the policy")
	errMoved       = errors.New("some origins no longer have the locked content")
	errUnknown     = errors.New("not all origins could be asked")
)

func runVerify(ctx context.Context, cmd *invocation, out *output) (err error) {
	sum := &verifySum{}
	if cmd.Bool("remote") {
		err = withOrigins(ctx, cmd, out, func(ctx context.Context, in *installer.Installer, out *output, req request) error {
			return verify(ctx, cmd, out, req, in, sum)
		})
	} else {
		err = forProjects(ctx, cmd, out, func(ctx context.Context, out *output, req request) error {
			return verify(ctx, cmd, out, req, nil, sum)
		})
	}
	if severalProjects(cmd) && !out.json && !out.quiet {
		sum.print(out)
	}
	return err
}

type verifySum struct {
	mu                  sync.Mutex
	projects, ok        int
	packages, providers int // of the projects without a failure
	origins             originCount
}

func (s *verifySum) add(report *installer.Report, origins originCount, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.projects++
	s.origins.add(origins)
	if ok {
		s.ok++
		s.packages += len(report.Packages)
		s.providers += len(report.Providers)
	}
}

func (s *verifySum) print(o *output) {
	if s.projects == 0 {
		return // there was none, or an error says why it was not verified
	}
	if s.ok > 0 {
		found := "nothing to verify"
		if s.packages+s.providers > 0 {
			found = view.CountBoth(s.packages, "package", s.providers, "provider")
		}
		text := fmt.Sprintf("%d of %s verified against the lock in %s: %s", s.ok, view.Count(s.projects, "project"), o.elapsed(), found)
		if failed := s.projects - s.ok; failed > 0 {
			text += fmt.Sprintf("; %d failed", failed)
		}
		o.printf("%s.\n", text)
	}
	if s.origins.all > 0 {
		o.printf("%s\n", s.origins)
	}
}

// verify also asks the project's origins if remote is not nil.
func verify(ctx context.Context, cmd *invocation, out *output, req request, remote *installer.Installer, sum *verifySum) (err error) {
	var report *installer.Report
	var origins originCount
	defer func() { sum.add(report, origins, err == nil) }()
	if dir, empty := withoutConfiguration(ctx, req); empty {
		return advice.NoConfigurationError{Dir: dir}
	}
	local, err := evidenceInstaller(ctx, cmd, out, req)
	if err != nil {
		return err
	}
	if req, err = withNamedStores(ctx, cmd, out, cmp.Or(remote, local), req); err != nil {
		return err
	}
	if remote == nil { // else it was said before
		out.warnUnmanaged(req.Unmanaged)
	}
	report, err = local.Verify(ctx, req.Project, installer.VerifyOptions{})
	if err != nil {
		return err
	}
	failed := failureOf(report)
	// A build server must not use what install --locked would refuse. With --remote, the origins are asked.
	if keys, providers := unconfirmedEntries(report); failed == nil && len(keys)+len(providers) > 0 && remote == nil && onBuildServer(out.Env) {
		failed = errUnconfirmed
	}
	if err := cmp.Or(out.report(report, nothingToVerify(req), failed, remote != nil), failed); err != nil || remote == nil {
		return err
	}
	origins, err = verifyRemote(ctx, remote, out, req, report)
	return err
}

// nothingToVerify says why a report has no packages and no providers, but is not a failure.
func nothingToVerify(req request) string {
	if view.Absent(lockPath(req)) {
		return "Nothing to verify: the configuration needs no lock file"
	}
	return "Nothing to verify: the lock has no packages of modules, and no providers are installed"
}

type faults struct{ changed, missing, notCompared, stale, unread bool }

// compared is a package or a provider in a report.
type compared struct {
	status          installer.Status
	err             error
	unknown, former bool // unknown says that there was nothing to compare
}

func comparedIn(report *installer.Report) (all []compared) {
	for _, p := range report.Packages {
		all = append(all, compared{p.Status, p.Err, p.Err != nil && p.Changes.Empty(), p.Former.Key != ""})
	}
	for _, p := range report.Providers {
		all = append(all, compared{p.Status, p.Err, errors.Is(p.Err, installer.ErrNoComparableHash), p.Err == nil && p.Status == installer.StatusFormer})
	}
	return all
}

func faultsOf(report *installer.Report) faults {
	f := faults{stale: len(report.Stale)+len(report.Refused) > 0, unread: len(report.Unread) > 0, notCompared: report.Unfinished || !report.Complete}
	for _, c := range comparedIn(report) {
		switch {
		case c.unknown:
			f.notCompared = true
		case c.status == installer.StatusUnlocked:
			f.stale = true
		case c.status == installer.StatusChanged, c.status == installer.StatusFormer:
			f.changed = true
		case c.status == installer.StatusMissing:
			f.missing = true
		case c.err != nil || c.status != installer.StatusVerified:
			f.notCompared = true
		}
	}
	if len(report.Misplaced) > 0 && !isFresh(report) {
		f.changed = true
	}
	return f
}

func failureOf(report *installer.Report) error {
	found := faultsOf(report)
	if found == (faults{}) {
		return nil
	}
	// The remedy for a StaleError, to update the lock, is printed once for all entries.
	causes := slices.Concat(report.Unread, slices.DeleteFunc(slices.Clone(report.Stale), advice.Is[*installer.StaleError]))
	if report.Lost != nil {
		// Modules without an entry are not compared, so at most a provider can have changed.
		isChanged := func(p installer.ProviderReport) bool {
			return !providerMatches(p) && p.Status != installer.StatusMissing
		}
		if len(report.Refused) == 0 && !report.Unfinished && !slices.ContainsFunc(report.Providers, isChanged) {
			return advice.ReportError{Err: report.Lost, Causes: causes}
		}
		causes = append(causes, report.Lost)
	}
	return advice.ReportError{Err: headlineOf(report, found), Causes: causes}
}

func headlineOf(report *installer.Report, found faults) error {
	if found == (faults{unread: true}) {
		return errUnread
	}
	found.unread = false // it is listed, and the other problems come first
	onlyStale := found == faults{stale: true}
	switch {
	case onlyStale && len(report.Refused) > 0:
		return errPolicy
	case onlyStale && len(report.Stale) == 1 && advice.Is[*installer.DialectError](report.Stale[0]):
		return errTwoForms
	case onlyStale && len(report.Stale) > 0 && !slices.ContainsFunc(report.Stale, func(err error) bool { return !advice.Is[*installer.OutsideError](err) }):
		return errOutside
	case onlyStale && len(report.Stale) > 0:
		return errStale
	case isFormer(report):
		return errFormer
	case found == faults{missing: true} && isFresh(report):
		return errNoneFound
	case found == faults{missing: true}:
		return errSomeMissing
	}
	return errNotVerified
}

// isFresh reports whether all packages are missing, as in a fresh checkout, where modules.json is missing too.
func isFresh(report *installer.Report) bool {
	all := comparedIn(report)
	return len(all) > 0 && !slices.ContainsFunc(all, func(c compared) bool { return c.status != installer.StatusMissing })
}

// isFormer reports whether the only fault is that the lock has other packages now than the last run installed.
func isFormer(report *installer.Report) bool {
	former := false
	for _, c := range comparedIn(report) {
		if former = former || c.former; !c.former && (c.err != nil || c.status != installer.StatusMissing && c.status != installer.StatusVerified) {
			return false
		}
	}
	return former && report.Complete && !report.Unfinished && len(report.Stale)+len(report.Refused)+len(report.Misplaced) == 0
}

// report prints a line for each package, followed by its files. nothing says why there may be none, and remote
// that the origins are asked next.
func (o *output) report(report *installer.Report, nothing string, failed error, remote bool) error {
	if o.json {
		for _, w := range report.Warnings {
			o.printWarning(o.Project, w)
		}
		o.result(o.jsonReport(report))
		return nil
	}
	if report.Unfinished {
		o.printf("An installation was interrupted while it was putting modules in place.\n")
	}
	for _, file := range report.Unproven {
		o.warnf("%s is from another directory or user; it was ignored\nIf you have copied or moved the project, `cotter install` writes a new one.", file)
	}
	for _, w := range report.Warnings {
		o.printWarning(o.Project, w)
	}
	for _, m := range advice.MessagesIn(report.Unread) {
		o.printf("- %s\n", view.Lines(view.Indented("not compared with the lock: "+o.Placed(m).Item())))
	}
	o.refused(report.Refused)
	problems := report.Stale
	if !isFresh(report) {
		problems = slices.Concat(problems, report.Misplaced)
	}
	named := make(map[string]bool) // calls that the lock has no entry for
	for _, m := range advice.MessagesIn(problems) {
		named[m.Module] = true
		o.printf("- %s\n", view.Lines(view.Indented(o.ExplainOne(m).Item())))
	}
	for _, p := range report.Packages {
		if p.Status == installer.StatusUnlocked && named[p.Path.String()] && !o.verbose {
			continue // the message above has its file and line
		}
		if o.verbose || !matches(p) {
			o.printf("- %s: %s\n", p.Path, view.Lines(statusText(p)))
		} else if !p.Changes.Empty() {
			o.printf("- %s:\n", p.Path)
		}
		for _, group := range changedFiles(p.Changes) {
			for _, file := range group.files {
				o.printf("    %s %s\n", group.label, strconv.Quote(file)) // escaped once
			}
		}
	}
	for _, d := range report.Directories {
		o.printf("- %s: the directory %s in place of %s is not locked\n", d.Key, d.Source, d.Replaces)
	}
	for _, p := range report.Providers {
		if o.verbose || !providerMatches(p) {
			o.printf("- provider %s %s: %s\n", p.Provider.ForDisplay(), p.Version, view.Lines(providerStatusText(p)))
		}
	}
	if report.OK() || o.verbose {
		o.unconfirmed(report, failed)
		if !remote {
			o.brought(report)
		}
	}
	verified := view.CountBoth(len(report.Packages), "package", len(report.Providers), "provider") + " verified against the lock"
	switch isNothing := len(report.Packages)+len(report.Providers) == 0; {
	case failed != nil:
	case o.Project != "" && !o.verbose: // the sum of all projects is enough
	case isNothing:
		o.conclude(nothing)
	case o.Project == "":
		o.conclude(verified + " in " + o.elapsed())
	default:
		o.conclude(verified)
	}
	return nil
}

func (o *output) refused(errs []error) {
	all := advice.MessagesIn(errs)
	for i, m := range all {
		all[i] = o.Placed(m)
	}
	for _, group := range advice.SameText(all) {
		headline, lines, ok := advice.RefusedTogether(group)
		if !ok {
			for _, m := range group {
				o.printf("- %s\n", o.ExplainOne(m).Item())
			}
			continue
		}
		o.printf("- %s:\n", headline)
		for _, line := range lines {
			o.printf("    %s\n", line)
		}
	}
}

func matches(p installer.PackageReport) bool {
	return p.Err == nil && p.Status == installer.StatusVerified
}

func providerMatches(p installer.ProviderReport) bool {
	return p.Err == nil && p.Status == installer.StatusVerified
}

// unconfirmedEntries returns what matches the lock, but has entries that nothing has confirmed.
func unconfirmedEntries(report *installer.Report) (keys, providers []string) {
	for _, p := range report.Packages {
		if p.Unconfirmed && matches(p) {
			keys = append(keys, p.Path.String())
		}
	}
	for _, p := range report.Providers {
		if p.Unconfirmed {
			providers = append(providers, p.Provider.ForDisplay())
		}
	}
	return keys, providers
}

// unconfirmed prints these entries in one message. An error about them says what to do itself.
func (o *output) unconfirmed(report *installer.Report, failed error) {
	keys, providers := unconfirmedEntries(report)
	if len(keys)+len(providers) == 0 {
		return
	}
	o.notef("Nothing has confirmed %s in the lock on this machine: %s.\n", bothEntries(len(keys), len(providers)), strings.Join(slices.Concat(keys, providers), ", "))
	if !errors.Is(failed, errUnconfirmed) {
		o.notef("%s\n", advice.ConfirmEntries)
	}
}

// brought prints what the repository has and nothing has confirmed.
func (o *output) brought(report *installer.Report) {
	var providers []string
	for _, p := range report.Providers {
		if p.Evidence.Kind == evidence.Project {
			providers = append(providers, p.Provider.ForDisplay()+" "+p.Version.String())
		}
	}
	o.unsigned("", providers)
}

func statusText(p installer.PackageReport) string {
	switch {
	case p.Err != nil:
		return "changed: " + view.Indented(p.Err.Error())
	case p.Status == installer.StatusVerified && p.Unconfirmed:
		return "Checksum matches lock file, but nothing has confirmed this entry here"
	case p.Status == installer.StatusVerified && p.Evidence.IsZero():
		return "Verified checksum matches lock file"
	case p.Status == installer.StatusVerified:
		return "Verified checksum matches lock file; " + records.ConfirmedText(p.Evidence)
	case p.Status == installer.StatusChanged && len(p.Want) > 0:
		return fmt.Sprintf("Module checksum verification failed\n    expected %s\n    got      %s", p.Want[0], p.Got[0])
	case p.Status == installer.StatusMissing:
		return "not installed"
	case p.Status == installer.StatusFormer:
		return fmt.Sprintf("another version is installed (%s, from before)", records.ReleaseName(p.Former))
	case p.Status == installer.StatusUnlocked:
		return "installed, but the lock has no entry for it"
	}
	return notCompared
}

const notCompared = "unknown: it was not compared with the lock"
