package main

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/evidence"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/internal/configs"
	"github.com/cotterpin/cotter/internal/gitowner"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/userkey"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/policy"
)

// remedy is what a user can do about an error. Its text may have placeholders: {dir} is the
// flag for the project's directory if there are several projects, {lock} is the path of the
// lock, and {keys} are the keys of the module calls or providers that have the problem. {accept}
// and {unreachable} are an --accept-changed and an --accept-unreachable flag for each of them.
type remedy struct {
	text    string
	project string
	key     string // "" if the text has no {keys}
}

// The remedies. The errors of the library only state facts. All advice on what to do next
// with this command is in this file.
const (
	switchedRemedy    = "Run `cotter install{dir}` to install what the lock has."
	installRemedy     = "Run `cotter install{dir}` to install what is missing."
	staleRemedy       = "Run `cotter install{dir}` to bring the lock up to date."
	createRemedy      = "Run `cotter install{dir}` to create it."
	repairRemedy      = "Run `cotter install{dir}` to restore it."
	unlockRemedy      = "Run `cotter install --locked=false{dir}` to bring the lock up to date."
	restoreRemedy     = "Run `cotter restore{dir}` to put back entries that have vanished from the lock."
	onlineRemedy      = "Run the command once without `--offline`."
	acceptRemedy      = "If you know why, run `cotter update{dir} {keys}{accept}` to lock the new content."
	downgradeRemedy   = "Run `cotter update{dir} {keys} --allow-downgrade` to allow lower versions."
	submodulesRemedy  = "Use `--submodules` to fetch submodules, or call the submodule's repository as a module of its own."
	gitlinksRemedy    = "If the lock was made with `--submodules`, use it here too."
	tofuRemedy        = "Use `--for tofu` to read the project as tofu does."
	mergeRemedy       = "Then run `cotter install{dir}` to lock what is still missing."
	mergeDriverRemedy = "Keep one block of each pair, or take one side whole and run `cotter install`."
	confirmRemedy     = "Run `cotter install --locked` to have the origins confirm these entries, or name the mirror or the bundle that has confirmed them."
	remoteRemedy      = "Run `cotter verify --remote` to compare with the origins."
	movedRemedy       = "If you want the origins' new content, run `cotter update`."
	dialectRemedy     = "Use `--for tofu` or `--for terraform` to decide."
	updateRemedy      = "Run `cotter update{dir} {keys}` to select another version."
	weakRemedy        = "If you accept the signature anyway, set `weak_provider_signatures = \"allow\"` in a policy of your own, and name it with `--policy`."
	// projectProvidersRemedy is for commands that copy packages.
	projectProvidersRemedy = "To copy it to a bundle or a mirror nevertheless, use `--project-providers`: those who use that will trust it."

	sourceRemedy      = "Write `source = \"{keys}\"` for it in the required_providers of each module that should use that provider."
	whyRemedy         = "Run `cotter why{dir} {keys}` to see which modules require it."
	pinRemedy         = "Write a constraint such as `version = \"{keys}\"` for it in required_providers to select that version."
	legacyRemedy      = "Run the stock tool's `state replace-provider` to give the resources a provider with a namespace."
	metadataRemedy    = "Use another path with `lock_file` in cotter.hcl, `--lock-file` or TF_DATA_DIR, or remove the link that points there."
	secondLockRemedy  = "Rename the lock, or use `--lock-file` with its name."
	certificateRemedy = "Behind a TLS proxy, set SSL_CERT_FILE to the file with its certificates."
	networkRemedy     = "Check the spelling of the host, the network and the proxy settings."
	spellingRemedy    = "Check the spelling of the host."
	gitLoginRemedy    = "Set a credential helper for git, or load a key into the ssh agent: git cannot prompt for credentials here."
	lockRemedy        = "Run `cotter lock{dir}` on your machine and commit the lock."
	commitLockRemedy  = "Run `cotter install{dir}` on your machine and commit it."
	platformRemedy    = "Use `cotter bundle create --platform {keys}` to make a bundle for it."
	bundleRemedy      = "Make a new bundle with `cotter bundle create`, or run the command once without `--bundle`."
	toolRemedy        = "Use `--tool` with its path, or `--for` if the project is for the other tool."
	vendorRemedy      = "Run `cotter vendor{dir}` to write the locked packages."
	noVendorRemedy    = "Set `vendor` in the settings block of cotter.hcl, or use `--vendor` with a directory."
	notOursRemedy     = "Name a directory that is empty or does not exist."
	stateKeyRemedy    = "Set COTTER_STATE_KEY to a longer secret, such as `openssl rand -hex 32` prints."
	archiveRemedy     = "Try again. If the error persists, tell the publisher of the provider."
	fileReadsRemedy   = "If you trust the author of this configuration with all your files, use `--allow-file-reads`."
	ownerRemedy       = "If you trust it, run `git config --global --add safe.directory {keys}`."
	trustRemedy       = "If you trust it, add its directory to `safe.directory` in your git configuration."
	logRemedy         = "Look at the lock's last changes, with `git log -p {lock}`."
	relockRemedy      = "Run `cotter update{dir} {keys}` to lock what the address points to now."
	newTagRemedy      = "If you know why the tag has moved, run `cotter update{dir} {keys}{accept}` to lock what it points to now."
	unreachableRemedy = "To use the locked commit nevertheless, run the command with `{unreachable}`."
	knownRemedy       = "Use `--mirror` or `--bundle` to take the package from a mirror or a bundle, if one has it."
	earlierRemedy     = "To use the versions of that one, remove {lock} and run `cotter restore{dir}`."
	shallowRemedy     = "Run `git fetch --unshallow` first to take the versions of an earlier lock, if there is one."
	partialRemedy     = "Run `git log -p {lock}`, which fetches the earlier versions, and then this command again."
	cacheRemedy       = "Use `--cache-dir` or COTTER_CACHE_DIR to name another directory."
)

// gitCertificateRemedy is for certificates that git does not trust.
const gitCertificateRemedy = "Behind a TLS proxy, set SSL_CERT_FILE to the file with its certificates; for git, set GIT_SSL_CAINFO or http.sslCAInfo too."

// registryLogin says how to log in to a registry. For a host with a port it does not offer
// the variable TF_TOKEN_..., whose name cannot contain a port.
func registryLogin(host string) string {
	block := fmt.Sprintf("add a `credentials \"%s\"` block with a token to the CLI configuration", host)
	if strings.Contains(host, ":") {
		return strings.ToUpper(block[:1]) + block[1:] + "."
	}
	name := strings.NewReplacer(".", "_", "-", "__").Replace(host)
	return fmt.Sprintf("Run `tofu login %s`, set TF_TOKEN_%s, or %s.", shellWord(host), name, block)
}

// sentRemedy says what to do about credentials that a host does not accept.
func sentRemedy(host string) string {
	return fmt.Sprintf("Check that they are valid and allow this. `cotter doctor` shows where the credentials for %s come from.", host)
}

// netrcLogin says how to log in to a server for archives.
func netrcLogin(host string) string {
	name, _, _ := strings.Cut(host, ":")
	return fmt.Sprintf("Add %s to ~/.netrc.", name)
}

// remediesOf returns the remedies for an error that does not join others. dir is the
// directory of its project.
func remediesOf(dir string, err error) []remedy {
	var found []remedy
	add := func(text, key string) { found = append(found, remedy{text, dir, key}) }
	var module *cotter.ModuleError
	var downgrade *cotter.DowngradeError
	var host *cotter.HostChangedError
	var linked *cotter.LinkedLockError
	var metadata *cotter.MetadataError
	var provider *cotter.ProviderError
	var mismatch *getproviders.MismatchError
	var unconfirmed *getproviders.UnconfirmedError
	var violation *policy.Violation
	var hint hintedError
	var owner *gitowner.OwnerError
	switch {
	case errors.As(err, &hint):
		add(hint.hint, "")
	case errors.As(err, &provider) && addProviderRemedies(provider, add):
	case errors.As(err, &unconfirmed) && unconfirmed.Evidence.Kind == evidence.Project:
		add(projectProvidersRemedy, "")
	case errors.As(err, &provider) && errors.As(err, &mismatch) && mismatch.Locked:
		add(updateRemedy, provider.Provider.ForDisplay())
	case errors.As(err, &provider) && errors.As(err, &mismatch):
		add(archiveRemedy, "")
	case errors.As(err, &violation) && violation.Argument == policy.WeakSignatures && violation.Range.Filename == "":
		add(weakRemedy, "")
	case errors.As(err, &violation) && violation.Argument == "allow_sources":
		add(allowRemedy(violation), "")
	case errors.As(err, &provider) && errors.As(err, &downgrade):
		add(downgradeRemedy, provider.Provider.ForDisplay())
	case errors.As(err, &downgrade) && errors.As(err, &module):
		add(downgradeRemedy, module.Path.String())
	case errors.As(err, &host):
		other := cotter.DialectTerraform
		if host.Dialect == other {
			other = cotter.DialectOpenTofu
		}
		add(fmt.Sprintf("Use `--for %s` to keep the registry, or `--for %s` to change it.", host.Dialect, other), "")
	case errors.As(err, &metadata):
		add(metadataRemedy, "")
	case errors.As(err, &owner) && owner.Config == nil:
		add(ownerRemedy, owner.Top)
	case errors.As(err, &linked):
		add(linkRemedy(linked), "")
	case addLockRemedies(err, add):
	default:
		for _, known := range []struct {
			is   bool
			text string
		}{
			{is[*cotter.SubmoduleError](err), submodulesRemedy},
			{is[*cotter.StaleError](err), staleRemedy},
			{is[*cotter.LostEntriesError](err), restoreRemedy},
			{errors.Is(err, cotter.ErrOffline), onlineRemedy},
			{errors.Is(err, cotter.ErrLegacyProvider), legacyRemedy},
			{errors.Is(err, cotter.ErrNotInstalled), installRemedy},
			{errors.Is(err, cotter.ErrMisplaced), repairRemedy},
			{errors.Is(err, errFormer), switchedRemedy},
			{errors.Is(err, errNotVerified), repairRemedy},
			{errors.Is(err, errNotVendored) || is[*cotter.VendorError](err), vendorRemedy},
			{errors.Is(err, cotter.ErrNoVendor), noVendorRemedy},
			{is[*project.NotOursError](err), notOursRemedy},
			{errors.Is(err, errStale), staleRemedy},
			{errors.Is(err, errLockWouldChange), lockRemedy},
			{errors.Is(err, errNoLock), createRemedy},
			{errors.Is(err, errMoved), movedRemedy},
			{errors.Is(err, errBothChanged), mergeDriverRemedy},
			{is[*secondLockError](err), secondLockRemedy},
			{is[*noToolError](err), toolRemedy},
			{errors.Is(err, userkey.ErrShortSecret), stateKeyRemedy},
		} {
			if known.is {
				add(known.text, "")
				break
			}
		}
	}
	return found
}

// addProviderRemedies adds the remedies for a provider that is not available. It reports
// whether there are any.
func addProviderRemedies(err *cotter.ProviderError, add func(text, key string)) bool {
	var unknown *cotter.UnknownProviderError
	var unusable *cotter.UnusableVersionError
	var missing *cotter.MissingPlatformError
	switch {
	case errors.As(err, &missing):
		add(platformRemedy, missing.Platform.String())
	case errors.As(err, &unknown) && len(unknown.SameType) > 0:
		add(sourceRemedy, unknown.SameType[0].ForDisplay())
	case errors.As(err, &unknown) && unknown.Renamed != (addrs.Provider{}):
		add(sourceRemedy, unknown.Renamed.ForDisplay())
	case errors.As(err, &unknown):
		add(whyRemedy, err.Provider.ForDisplay())
	case errors.As(err, &unusable) && unusable.Unlisted && unusable.Allowed:
		add(updateRemedy, err.Provider.ForDisplay())
	case errors.As(err, &unusable) && unusable.Allowed:
		add(pinRemedy, unusable.Other.String())
	default:
		return false
	}
	return true
}

// addLockRemedies adds the remedies for a difference from the lock or its history. It reports whether there
// are any.
func addLockRemedies(err error, add func(text, key string)) bool {
	var locked *cotter.LockedError
	var mismatch *cotter.HashMismatchError
	var content *cotter.ContentChangedError
	var moved *cotter.MovedError
	var unreachable *cotter.UnreachableError
	var history *cotter.HistoryEndError
	switch {
	case errors.As(err, &history) && history.Shallow:
		add(shallowRemedy, "")
	case errors.As(err, &history) && history.Partial:
		add(partialRemedy, "")
	case errors.As(err, &locked):
		add(unlockRemedy, "")
		if slices.ContainsFunc(locked.Reasons, func(r cotter.LockedReason) bool { return r.Missing }) {
			add(restoreRemedy, "")
		}
	case errors.As(err, &mismatch):
		if len(mismatch.Gitlinks) > 0 {
			add(gitlinksRemedy, "")
		}
		if mismatch.Key != "" {
			add(acceptRemedy, mismatch.Key)
		}
	case errors.As(err, &content):
		add(acceptRemedy, content.Key)
	case errors.As(err, &moved):
		add(acceptRemedy, moved.Key)
	case errors.As(err, &unreachable):
		addUnreachableRemedies(unreachable, add)
	default:
		return false
	}
	return true
}

// addUnreachableRemedies adds the remedies for a locked commit that no branch or tag is known to
// contain.
func addUnreachableRemedies(err *cotter.UnreachableError, add func(text, key string)) {
	if !err.Unknown {
		add(logRemedy, "")
	}
	if err.Fixed {
		add(newTagRemedy, err.Key)
	} else {
		add(relockRemedy, err.Key)
	}
	if err.Unknown {
		add(knownRemedy, "")
	}
	add(unreachableRemedy, err.Key)
}

// diagnosticRemedies returns the remedies for a diagnostic.
func diagnosticRemedies(project string, diag *hcl.Diagnostic) []remedy {
	if _, ok := hcl.DiagnosticExtra[lockfile.MergeConflict](diag); ok {
		return []remedy{{text: mergeRemedy, project: project}}
	}
	if _, ok := hcl.DiagnosticExtra[configs.UnknownToTerraform](diag); ok {
		return []remedy{{text: tofuRemedy, project: project}}
	}
	if _, ok := hcl.DiagnosticExtra[*cotter.FileReadError](diag); ok {
		return []remedy{{text: fileReadsRemedy}}
	}
	return nil
}

// allowRemedy says how to allow a source that a policy does not allow.
func allowRemedy(violation *policy.Violation) string {
	if violation.Range.Filename == "" {
		return "If you trust the source, name it with `--allow-source` too."
	}
	return fmt.Sprintf("If you trust the source, add it to `allow_sources` in %s.", violation.Range.Filename)
}

// linkRemedy says what to do about a lock file that is a symbolic link.
func linkRemedy(linked *cotter.LinkedLockError) string {
	text := fmt.Sprintf("Replace the link with a copy of the file %q, as tofu and terraform do when they write the lock", linked.Target)
	if linked.Inside != "" {
		text += fmt.Sprintf("; or keep Cotter's entries only in that file, with `--lock-file %s`", shellWord(linked.Inside))
	}
	return text + "."
}

// warningRemedies returns the remedies for a warning in a project, whose directory is "" if there
// is only one.
func warningRemedies(project string, w cotter.Warning) []remedy {
	switch w.Kind {
	case cotter.WarningNoCache:
		return []remedy{{text: cacheRemedy, project: project}}
	case cotter.WarningRepositoryOwner:
		return []remedy{{text: trustRemedy, project: project}}
	case cotter.WarningShallowHistory:
		return []remedy{{text: shallowRemedy, project: project}}
	case cotter.WarningPartialHistory:
		return []remedy{{text: partialRemedy, project: project}}
	case cotter.WarningDialectAssumed:
		return []remedy{{text: dialectRemedy, project: project}}
	case cotter.WarningMoved:
		return []remedy{{text: newTagRemedy, project: project, key: w.Path.String()}}
	case cotter.WarningUnknownHistory:
		return []remedy{{text: relockRemedy, project: project, key: w.Path.String()}}
	}
	return nil
}

// is reports whether err is or wraps an error of type E.
func is[E error](err error) bool {
	var target E
	return errors.As(err, &target)
}

// remedyLines returns the texts of remedies. A remedy that several errors have in common is
// returned once, with all their keys.
func remedyLines(list []remedy) []string {
	var order []remedy // without keys
	keys := make(map[remedy][]string)
	for _, r := range list {
		key := r.key
		r.key = ""
		if !slices.Contains(order, r) {
			order = append(order, r)
		}
		if key != "" && !slices.Contains(keys[r], key) {
			keys[r] = append(keys[r], key)
		}
	}
	var texts []string
	for _, r := range order {
		texts = append(texts, r.line(keys[r]))
	}
	return texts
}

// line returns the text of a remedy with its placeholders replaced.
func (r remedy) line(keys []string) string {
	dir, accept, unreachable := "", "", ""
	if r.project != "" && r.project != "." {
		dir = " --chdir " + shellWord(r.project)
	}
	words := make([]string, len(keys))
	for i, key := range keys {
		words[i] = shellWord(key)
		accept += " --accept-changed " + words[i]
		unreachable += " --accept-unreachable " + words[i]
	}
	return strings.NewReplacer("{dir}", dir, "{lock}", shellWord(path.Join(r.project, stockLockName)), "{keys}", strings.Join(words, " "),
		"{accept}", accept, "{unreachable}", strings.TrimSpace(unreachable)).Replace(r.text)
}

// plainWord matches words that all shells take literally.
var plainWord = lazyRegexp(`^[A-Za-z0-9_./:@%+=][A-Za-z0-9_./:@%+=-]*$`)

// shellWord quotes a word for a shell if necessary.
func shellWord(word string) string {
	if plainWord().MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
