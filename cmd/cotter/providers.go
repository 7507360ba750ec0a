package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/cliconfig"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/cli/view"
	"github.com/cotterpin/cotter/internal/configuration/repofiles"
)

func providerFlags() []addFlag {
	return []addFlag{
		onlyFlag("work only on `WHAT`: modules or providers; the rest of the lock does not change"),
		texts("platform", "also lock the providers' hashes for `OS_ARCH`; can be repeated"),
	}
}

// pruneFlag is for commands that select providers for the whole configuration.
func pruneFlag() addFlag {
	return toggle("prune-providers", "remove providers that no module requires from the lock, even if the state needs them")
}

func setProviders(cmd *invocation, req *request) (err error) {
	if req.Platforms, err = platforms(cmd); err != nil {
		return err
	}
	if req.Scope, err = scope(cmd); err != nil {
		return err
	}
	if req.Scope == installer.ScopeModules {
		if len(req.Platforms) > 0 {
			return usageError{fmt.Errorf("--platform is for providers, and this run does not change them")}
		}
		return nil
	}
	req.PruneProviders = cmd.Bool("prune-providers")
	return nil
}

func onlyFlag(usage string) addFlag { return text("only", usage) }

func scope(cmd *invocation) (installer.Scope, error) {
	return chosen("--only", cmd.String("only"), map[string]installer.Scope{"": installer.ScopeAll, "modules": installer.ScopeModules, "providers": installer.ScopeProviders})
}

func platforms(cmd *invocation) (named []addrs.Platform, err error) {
	for _, text := range cmd.Strings("platform") {
		platform, err := addrs.ParsePlatform(text)
		if err != nil {
			return nil, usageError{err}
		}
		named = append(named, platform)
	}
	return named, nil
}

// providerChangeText is for a provider that was neither added nor removed.
func providerChangeText(change installer.ProviderChange) string {
	if change.Old == change.New {
		return strings.Join(append([]string{change.New.String()}, hashChanges(change)...), ", ")
	}
	text := change.Old.String()
	if change.From != (addrs.Provider{}) {
		text += " from " + change.From.Hostname.ForDisplay()
	}
	return text + " -> " + change.New.String()
}

// splitMoved separates providers that only move to another registry. It leaves out the removal of an entry
// whose version another provider has taken over.
func splitMoved(changes []installer.ProviderChange) (moved, others []installer.ProviderChange) {
	from := make(map[addrs.Provider]bool)
	for _, change := range changes {
		from[change.From] = true
	}
	for _, change := range changes {
		switch {
		case change.IsMoved():
			moved = append(moved, change)
		case !change.New.IsZero() || !from[change.Provider]:
			others = append(others, change)
		}
	}
	return moved, others
}

// moveText describes providers that move to another registry, of which one is given.
func moveText(change installer.ProviderChange) string {
	return fmt.Sprintf("from %s to %s, at the locked versions", change.From.Hostname.ForDisplay(), change.Provider.Hostname.ForDisplay())
}

// hashChanges is for an entry whose version stays.
func hashChanges(change installer.ProviderChange) (changes []string) {
	if change.Hashes > 0 {
		changes = append(changes, moreHashes(change.Hashes))
	}
	if change.Normalized {
		changes = append(changes, "hashes as stock tools write them")
	}
	return changes
}

func moreHashes(n int) string {
	if n == 1 {
		return "1 more hash"
	}
	return fmt.Sprintf("%d more hashes", n)
}

// signedBy returns "" if the signature was not checked in this run.
func (o *output) signedBy(e event.ProviderInstalled) string {
	switch {
	case e.KeyID == "":
		return ""
	case !o.verbose:
		return " (signed)"
	case e.Key == "":
		return fmt.Sprintf(" (signed, key %s)", e.KeyID)
	}
	return fmt.Sprintf(" (signed, key %s, %s)", e.KeyID, e.Key)
}

// fromProject names the providers that the project itself brings.
func fromProject(providers []installer.Provider) []string {
	var names []string
	for _, p := range providers {
		if p.Evidence.Kind == evidence.Project {
			names = append(names, p.Address.ForDisplay()+" "+p.Version.String())
		}
	}
	return names
}

// unsigned names them, so that they are not mistaken for those of a registry.
func (o *output) unsigned(prefix string, names []string) {
	if len(names) > 0 && !o.json {
		o.notef("%s%s from this repository, unsigned: %s\n", prefix, view.Count(len(names), "provider"), strings.Join(names, ", "))
	}
}

func providerStatusText(p installer.ProviderReport) string {
	switch {
	case p.Status == installer.StatusMissing:
		return "not installed"
	case p.Status == installer.StatusFormer:
		return fmt.Sprintf("another version is installed (%s, from before)", p.Former)
	case p.Err != nil:
		return "cannot be compared: " + view.Indented(p.Err.Error())
	case p.Unconfirmed:
		return "Checksum matches lock file, but no origin has confirmed this entry here"
	case p.Evidence.Kind == evidence.Project:
		return "Checksum matches lock file; " + p.Evidence.String()
	case p.Status == installer.StatusVerified:
		return "Verified checksum matches lock file"
	case p.Status != installer.StatusChanged:
		return notCompared
	}
	return fmt.Sprintf("Provider checksum verification failed\n    expected one of the %d hashes in the lock\n    got      %s", len(p.Want), p.Got)
}

// loadProviders returns the providers that the modules require, which must all be installed.
func loadProviders(ctx context.Context, cmd *invocation, out *output, req request) ([]installer.Provider, error) {
	in, err := evidenceInstaller(ctx, cmd, out, req)
	if err != nil {
		return nil, err
	}
	result, err := in.Load(ctx, req.Project, installer.LoadOptions{Providers: true})
	if err != nil {
		return nil, err
	}
	return result.Providers, nil
}

// configuredSource is the source of providers that the CLI configuration selects, without the mirrors that a
// project can bring if several share it.
type configuredSource struct {
	getproviders.Source
	config *cliconfig.Config
	direct getproviders.Source
	client *http.Client
}

func newConfiguredSource(ctx context.Context, config *cliconfig.Config, direct getproviders.Source, dir string, several bool, client *http.Client) (*configuredSource, error) {
	s := &configuredSource{config: config, direct: direct, client: client}
	if registries, ok := direct.(*getproviders.Direct); ok {
		registries.HTTPCredentials = config.ArchiveCredentials()
	}
	var err error
	s.Source, err = s.sourceIn(ctx, dir, several)
	return s, err
}

// inProject adds the source of one of several projects to its request, if it can bring providers.
func inProject(ctx context.Context, in *installer.Installer, req request) (_ request, err error) {
	if s, ok := in.Options().Providers.(*configuredSource); ok && s.config.Providers.InProject(req.Dir) {
		req.ProviderSource, err = s.sourceIn(ctx, req.Dir, false)
	}
	return req, err
}

// isInRepository is also true if that cannot be found out.
func isInRepository(dir, name string) bool {
	own, err := repofiles.Find(dir, cliconfig.OSEnvironment().Home)
	return err != nil || own.Has(name)
}

func (s *configuredSource) sourceIn(ctx context.Context, dir string, several bool) (getproviders.Source, error) {
	direct := s.direct
	return s.config.ProviderSource(ctx, cliconfig.ProviderSourceOptions{
		Direct: func(attempts int) getproviders.Source {
			if registries, ok := direct.(*getproviders.Direct); ok && attempts != 0 && registries.Attempts != attempts {
				registries.Attempts = attempts
			}
			return direct
		},
		Dir:        dir,
		InProject:  func(mirror string) bool { return isInRepository(dir, mirror) },
		NoProject:  several,
		HTTPClient: s.client,
		UserAgent:  "cotter/" + version(),
	})
}
