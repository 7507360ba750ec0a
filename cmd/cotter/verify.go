package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/cmd/cotter/internal/cli"
	"github.com/cotterpin/cotter/evidence"
)

func verifyCommand(out *output) *cli.Command {
	return &cli.Command{
		Name:      "verify",
		Usage:     "compare the installed modules and providers with the lock, without network access",
		ArgsUsage: "[DIR...]",
		Description: "Reads every installed file. Changed files, missing files and added configuration files\n" +
			"are failures; other added files are only listed. Packages that nothing outside this\n" +
			"repository has confirmed are named. With --remote it also asks the origins what tags,\n" +
			"branches and registries point to now, and compares content that no origin has confirmed.\n" +
			"\n" +
			"The exit status is 0 if everything matches. Otherwise it is the sum of 1 if a package\n" +
			"was changed, another version of it is installed, or modules.json points elsewhere, 4 if a\n" +
			"package is not installed, 8 if something could not be compared, and 16 if the lock does\n" +
			"not fit the configuration or what is installed, the policy refuses something, or an\n" +
			"origin has other content. If there are several projects, each number that applies to any\n" +
			"of them is added once.",
		Flags: configFlags(severalFlags(append(slices.Concat(policyFlags(), evidenceFlags()),
			&cli.Flag{Name: "remote", Usage: "ask the origins whether they still have the locked content"},
			&cli.Flag{Name: "cache-dir", Type: cli.String, Usage: "keep fetched packages in `DIR`"},
			&cli.Flag{Name: "sarif", Type: cli.String, Usage: "write the findings to `FILE`, in SARIF for code scanning"},
		)...)...),
		Run: func(ctx context.Context, cmd *cli.Invocation) error {
			return runVerify(ctx, cmd, out)
		},
	}
}

var (
	errNoLock      = errors.New("there is no lock file to compare with")
	errNotVerified = errors.New("the installed files differ from the lock")
	errNoneFound   = errors.New("nothing is installed here yet")
	errSomeMissing = errors.New("locked packages are not installed")
	errFormer      = errors.New("other packages are installed than the lock has")
	errNotVendored = errors.New("the vendored modules differ from the lock")
	errStale       = errors.New("the lock is not for this configuration")
	errTwoForms    = errors.New("the lock is for only one of two configurations")
	errPolicy      = errors.New("the configuration or the lock violates the policy")
	errMoved       = errors.New("some origins no longer have the locked content")
	errUnknown     = errors.New("not all origins could be asked")
)

func runVerify(ctx context.Context, cmd *cli.Invocation, out *output) (err error) {
	var found *sarifReport // nil if no SARIF file is written
	if name := cmd.String("sarif"); name != "" {
		if found, err = newSARIFReport(cmd.String("chdir")); err != nil {
			return err
		}
		defer func() {
			if failed := found.write(name); failed != nil {
				err = errors.Join(err, failed)
			}
		}()
	}
	sum := &verifySum{}
	if cmd.Bool("remote") {
		err = withOrigins(ctx, cmd, out, func(ctx context.Context, in *cotter.Installer, out *output, req cotter.Request) error {
			return verify(ctx, cmd, out, req, in, found, sum)
		})
	} else {
		err = forProjects(ctx, cmd, out, func(ctx context.Context, out *output, req cotter.Request) error {
			return verify(ctx, cmd, out, req, nil, found, sum)
		})
	}
	if severalProjects(cmd) && !out.json && !out.quiet {
		sum.print(out)
	}
	return err
}

// verifySum adds up what was verified in several projects.
type verifySum struct {
	mu                  sync.Mutex
	projects, ok        int
	packages, providers int // of the projects without a failure
	origins             originCount
}

// add adds a project. ok reports whether it has no failure.
func (s *verifySum) add(report *cotter.Report, origins originCount, ok bool) {
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
		text := fmt.Sprintf("%d of %s verified against the lock in %s: %s", s.ok, count(s.projects, "project"), o.elapsed(), verifiedText(s.packages, s.providers))
		if failed := s.projects - s.ok; failed > 0 {
			text += fmt.Sprintf("; %d failed", failed)
		}
		o.printf("%s.\n", text)
	}
	if s.origins.all > 0 {
		o.printf("%s\n", s.origins)
	}
}

func verifiedText(packages, providers int) string {
	switch {
	case providers == 0:
		return count(packages, "package")
	case packages == 0:
		return count(providers, "provider")
	}
	return count(packages, "package") + " and " + count(providers, "provider")
}

// verify verifies the project of a request. If remote is not nil, it also asks the project's
// origins.
func verify(ctx context.Context, cmd *cli.Invocation, out *output, req cotter.Request, remote *cotter.Installer, found *sarifReport, sum *verifySum) (err error) {
	var report *cotter.Report
	var origins originCount
	defer func() {
		found.failed(req, err)
		sum.add(report, origins, err == nil)
	}()
	if err := setPolicy(cmd, &req); err != nil {
		return err
	}
	local, err := evidenceInstaller(ctx, cmd, out, req)
	if err != nil {
		return err
	}
	if req, err = withNamedStores(ctx, cmd, out, cmp.Or(remote, local), req); err != nil {
		return err
	}
	report, err = local.Verify(ctx, req)
	if errors.Is(err, fs.ErrNotExist) && isDir(cmp.Or(req.Dir, ".")) {
		return fmt.Errorf("%w: %w", errNoLock, err)
	}
	if err != nil {
		return err
	}
	if err := errors.Join(out.report(report, remote != nil), found.report(req, report)); err != nil {
		return err
	}
	failed := verifyStatus(report)
	if remote != nil && failed.status == 0 {
		if failed, origins, err = verifyRemote(ctx, remote, out, req, report, found); err != nil {
			return err
		}
	}
	if failed.status == 0 {
		return nil
	}
	return failed
}

// verifyStatus returns the exit status for a report, with an error for it. If the report has
// no failures, the status is 0.
func verifyStatus(report *cotter.Report) statusError {
	status := 0
	for _, p := range report.Packages {
		switch {
		case p.Err != nil && p.Changes.Empty():
			status |= exitUnverifiable
		case p.Status == cotter.StatusUnlocked:
			status |= exitStale
		case p.Status == cotter.StatusChanged, p.Status == cotter.StatusFormer:
			status |= exitChanged
		case p.Status == cotter.StatusMissing:
			status |= exitMissing
		case !matches(p):
			status |= exitUnverifiable
		}
	}
	for _, p := range report.Providers {
		switch {
		case errors.Is(p.Err, cotter.ErrNoComparableHash):
			status |= exitUnverifiable
		case p.Status == cotter.StatusMissing:
			status |= exitMissing
		case p.Status == cotter.StatusChanged, p.Status == cotter.StatusFormer:
			status |= exitChanged
		case !providerMatches(p):
			status |= exitUnverifiable
		}
	}
	if len(report.Misplaced) > 0 && !isFresh(report) {
		status |= exitChanged
	}
	if len(report.Stale)+len(report.Refused) > 0 {
		status |= exitStale
	}
	if report.Unfinished || !report.Complete {
		status |= exitUnverifiable
	}
	// The remedy for a StaleError, to update the lock, is printed once for all entries.
	causes := slices.DeleteFunc(slices.Clone(report.Stale), is[*cotter.StaleError])
	if report.Lost != nil {
		// Modules without an entry are not compared, so at most a provider can have changed.
		if len(report.Refused) == 0 && !report.Unfinished && !slices.ContainsFunc(report.Providers, isChanged) {
			return statusError{report.Lost, status, causes}
		}
		causes = append(causes, report.Lost)
	}
	switch {
	case status == exitStale && len(report.Refused) > 0:
		return statusError{errPolicy, status, causes}
	case status == exitStale && len(report.Stale) == 1 && is[*cotter.DialectError](report.Stale[0]):
		return statusError{errTwoForms, status, causes}
	case status == exitStale && len(report.Stale) > 0:
		return statusError{errStale, status, causes}
	}
	if slices.ContainsFunc(report.Packages, func(p cotter.PackageReport) bool { return p.Vendored != "" && p.Status != cotter.StatusVerified }) {
		return statusError{errNotVendored, status, causes}
	}
	if isFormer(report) {
		return statusError{errFormer, status, causes}
	}
	if status == exitMissing {
		return statusError{missingError(report), status, causes}
	}
	return statusError{errNotVerified, status, causes}
}

// missingError returns the error for a report whose only fault is that packages are missing.
func missingError(report *cotter.Report) error {
	if isFresh(report) {
		return errNoneFound
	}
	return errSomeMissing
}

// isFresh reports whether all packages are missing, as in a fresh checkout. Then modules.json has no
// records of local modules either.
func isFresh(report *cotter.Report) bool {
	for _, p := range report.Packages {
		if p.Status != cotter.StatusMissing || p.Vendored != "" {
			return false
		}
	}
	for _, p := range report.Providers {
		if p.Status != cotter.StatusMissing {
			return false
		}
	}
	return len(report.Packages)+len(report.Providers) > 0
}

// isFormer reports whether the installed packages are those that this user's last run installed,
// and the only fault is that the lock has others now.
func isFormer(report *cotter.Report) bool {
	former := false
	expected := func(status cotter.Status, err error) bool {
		former = former || status == cotter.StatusFormer
		return err == nil && (status == cotter.StatusFormer || status == cotter.StatusMissing || status == cotter.StatusVerified)
	}
	for _, p := range report.Packages {
		if p.Former.Key != "" {
			former = true
		} else if !expected(p.Status, p.Err) {
			return false
		}
	}
	for _, p := range report.Providers {
		if !expected(p.Status, p.Err) {
			return false
		}
	}
	return former && report.Complete && !report.Unfinished && len(report.Stale)+len(report.Refused)+len(report.Misplaced) == 0
}

// report prints what verify found: a line for each package, followed by its files. remote says that
// the origins are asked next.
func (o *output) report(report *cotter.Report, remote bool) error {
	if o.json {
		return o.writeJSON(jsonReport(report))
	}
	if report.Unfinished {
		o.printf("An installation was interrupted while it was putting modules in place.\n")
	}
	for _, file := range report.Unproven {
		o.warnf("%s is from another directory or user; it was ignored\nIf you have copied or moved the project, `cotter install` writes a new one.", file)
	}
	for _, w := range report.Warnings {
		o.printWarning(o.project, w)
	}
	o.unread(report.Unread)
	o.refused(report.Refused)
	problems := report.Stale
	if !isFresh(report) {
		problems = slices.Concat(problems, report.Misplaced)
	}
	named := make(map[string]bool) // calls that the lock has no entry for
	for _, m := range flatten(problems) {
		named[m.Module] = true
		o.printf("- %s\n", lines(indented(o.explained(m).line())))
	}
	for _, p := range report.Packages {
		if p.Status == cotter.StatusUnlocked && named[p.Path.String()] && !o.verbose {
			continue // the message above has its file and line
		}
		if o.verbose || !matches(p) {
			o.printf("- %s: %s\n", p.Path, lines(statusText(p)))
		} else if !p.Changes.Empty() {
			o.printf("- %s:\n", p.Path)
		}
		for _, group := range changedFiles(reportedFiles(p)) {
			for _, file := range group.files {
				o.printf("    %s %q\n", group.label, file)
			}
		}
	}
	for _, p := range report.Providers {
		if o.verbose || !providerMatches(p) {
			o.printf("- provider %s %s: %s\n", p.Provider.ForDisplay(), p.Version, lines(providerStatusText(p)))
		}
	}
	if report.OK() || o.verbose {
		o.unconfirmed(report)
		if !remote {
			o.brought(report)
		}
	}
	verified := verifiedText(len(report.Packages), len(report.Providers)) + " verified against the lock"
	switch {
	case !report.OK():
	case o.project == "":
		o.conclude(verified + " in " + o.elapsed())
	case o.verbose: // otherwise the sum of all projects is enough
		o.conclude(verified)
	}
	return nil
}

// refused prints violations of the policy, grouped by rule.
func (o *output) refused(errs []error) {
	all := flatten(errs)
	for i, m := range all {
		all[i] = o.placed(m)
	}
	for _, group := range sameText(all) {
		headline, lines, ok := refusedTogether(group)
		if !ok {
			for _, m := range group {
				o.printf("- %s\n", o.explained(m).line())
			}
			continue
		}
		o.printf("- %s:\n", headline)
		for _, line := range lines {
			o.printf("    %s\n", line)
		}
	}
}

// matches reports whether a package matches the lock.
func matches(p cotter.PackageReport) bool { return p.Err == nil && p.Status == cotter.StatusVerified }

// isChanged reports whether a provider is installed and does not match the lock.
func isChanged(p cotter.ProviderReport) bool {
	return !providerMatches(p) && p.Status != cotter.StatusMissing
}

// providerMatches reports whether a provider matches the lock.
func providerMatches(p cotter.ProviderReport) bool {
	return p.Err == nil && p.Status == cotter.StatusVerified
}

// unconfirmed prints the entries that nothing has confirmed, in one message.
func (o *output) unconfirmed(report *cotter.Report) {
	var keys []string
	for _, p := range report.Packages {
		if p.Unconfirmed && matches(p) {
			keys = append(keys, p.Path.String())
		}
	}
	var providers []string
	for _, p := range report.Providers {
		if p.Unconfirmed {
			providers = append(providers, p.Provider.ForDisplay())
		}
	}
	if len(keys) > 0 {
		o.notef("Nothing has confirmed %s in the lock on this machine: %s.\n", entries(len(keys), "module"), strings.Join(keys, ", "))
	}
	if len(providers) > 0 {
		o.notef("Nothing has confirmed %s in the lock on this machine: %s.\n", count(len(providers), "provider"), strings.Join(providers, ", "))
	}
	if len(keys)+len(providers) > 0 {
		o.notef("%s\n", confirmEntries)
	}
}

// brought prints the packages that the repository has, and that nothing has confirmed.
func (o *output) brought(report *cotter.Report) {
	n := 0
	for _, p := range report.Packages {
		if p.Evidence.Kind == evidence.Project && matches(p) {
			n++
		}
	}
	if n > 0 {
		o.notef("Nothing outside this repository has confirmed %s. %s\n", count(n, "vendored module"), compareOrigins)
	}
	var providers []string
	for _, p := range report.Providers {
		if p.Evidence.Kind == evidence.Project {
			providers = append(providers, p.Provider.ForDisplay()+" "+p.Version.String())
		}
	}
	o.unsigned("", providers)
}

// unread warns about parts of the configuration that were not compared with the lock.
func (o *output) unread(errs []error) {
	var remedies []remedy
	for _, m := range flatten(errs) {
		o.warnf("the configuration was not compared with the lock: %s", o.placed(m).line())
		remedies = append(remedies, m.remedies...)
	}
	o.printRemedies(remedies)
}

// statusText describes how an installed package compares with the lock.
func statusText(p cotter.PackageReport) string {
	switch {
	case p.Err != nil:
		return "changed: " + indented(p.Err.Error())
	case p.Status == cotter.StatusVerified && p.Unconfirmed:
		return "Checksum matches lock file, but nothing has confirmed this entry here"
	case p.Status == cotter.StatusVerified && p.Evidence.IsZero():
		return "Verified checksum matches lock file"
	case p.Status == cotter.StatusVerified:
		return "Verified checksum matches lock file; " + confirmedText(p.Evidence)
	case p.Status == cotter.StatusChanged && len(p.Want) > 0:
		return fmt.Sprintf("Module checksum verification failed\n    expected %s\n    got      %s", p.Want[0], p.Got[0])
	case p.Status == cotter.StatusMissing && p.Vendored != "":
		return p.Vendored + " does not exist"
	case p.Status == cotter.StatusMissing:
		return "not installed"
	case p.Status == cotter.StatusFormer:
		return fmt.Sprintf("another version is installed (%s, from before)", releaseName(p.Former))
	case p.Status == cotter.StatusUnlocked && p.Vendored != "":
		return p.Vendored + " has no entry in the lock"
	case p.Status == cotter.StatusUnlocked:
		return "installed, but the lock has no entry for it"
	}
	return notCompared
}

// notCompared describes a package or provider that was not compared with the lock.
const notCompared = "unknown: it was not compared with the lock"
