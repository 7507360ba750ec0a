package mirror_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/installerinternal"
	"github.com/cotterpin/cotter/internal/net/oci/registrytest"
	"github.com/cotterpin/cotter/internal/store/artifact"
	"github.com/cotterpin/cotter/internal/store/storefetch"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/mirror"
)

// damaged returns the sources of the entries that VerifyStore finds damaged in a mirror, and the digests of
// the blobs of all entries by their sources.
func (p *project) damaged(t *testing.T, m *mirror.Mirror) (damaged []string, blobs map[string]string) {
	t.Helper()
	entries, err := installerinternal.VerifyStore(t.Context(), p.in, m)
	testenv.Must(t, err)
	blobs = map[string]string{}
	for _, entry := range entries {
		name := entry.Source
		if entry.Platform != (addrs.Platform{}) {
			name = entry.Platform.String()
			blobs[name] = "sha256:" + strings.TrimPrefix(string(entry.Hashes[1]), "zh:")
		} else {
			text, err := storefetch.Manifest(t.Context(), m, entry.Tag)
			testenv.Must(t, err)
			found, err := artifact.ParseModule(text)
			testenv.Must(t, err)
			blobs[name] = found.Layer.Digest
		}
		if entry.Err != nil {
			damaged = append(damaged, name)
		}
	}
	return damaged, blobs
}

// Distribution is an independent registry implementation. It does not store a blob again that it already
// has, even if its copy is damaged. So a repair stores the same content of a module with another digest, as
// often as necessary. That is impossible for a published archive of a provider, which has only one digest.
func TestDockerRegistry(t *testing.T) {
	t.Parallel()
	registry := registrytest.Start(t, "")
	m, err := mirror.Open(&getmodules.Fetcher{HTTPClient: registry.Client(), Backoff: noWait}, "oci://"+registry.Host()+"/corp/modules")
	testenv.Must(t, err)
	p, _ := open(t)
	repair := func(want mirror.Result) {
		t.Helper()
		got, err := mirror.Repair(t.Context(), p.in, p.projects(), p.locked(), m)
		testenv.Must(t, err)
		if got.Bytes = 0; *got != want {
			t.Errorf("Repair: %+v, want %+v", *got, want)
		}
	}
	check := func(want string) {
		t.Helper()
		if damaged, _ := p.damaged(t, m); strings.Join(damaged, " ") != want {
			t.Errorf("the entries of %q are damaged, want %q", damaged, want)
		}
	}
	p.push(t, m, mirror.Result{Entries: 2, Providers: 1, Pushed: 3})
	p.platforms = []addrs.Platform{plan9, addrs.CurrentPlatform()}
	p.push(t, m, mirror.Result{Entries: 2, Providers: 2, Pushed: 1})
	p.push(t, m, mirror.Result{Entries: 2, Providers: 2})
	repair(mirror.Result{Entries: 2, Providers: 2})
	net := string(p.w.Host()) + "/acme/net/aws"
	for range 2 {
		_, blobs := p.damaged(t, m)
		testenv.Must(t, registry.Damage(blobs[net]))
		check(net)
		p.push(t, m, mirror.Result{Entries: 2, Providers: 2})
		repair(mirror.Result{Entries: 2, Providers: 2, Replaced: 1})
		check("")
	}
	p.platforms = nil
	if warnings, asked, err := p.installFrom(t, m, false); err != nil || len(warnings)+len(asked) > 0 {
		t.Errorf("Install: %v, warnings are %q, asked for %q", err, warnings, asked)
	}
	here := addrs.CurrentPlatform().String()
	_, blobs := p.damaged(t, m)
	testenv.Must(t, registry.Damage(blobs[here]))
	if warnings, asked, err := p.installFrom(t, m, false); err != nil || len(warnings) != 1 || !has(asked, ".zip") {
		t.Errorf("with a damaged archive: %v, warnings are %q, asked for %q", err, warnings, asked)
	}
	check(here)
	if _, err := mirror.Repair(t.Context(), p.in, p.projects(), p.locked(), m); !errors.Is(err, mirror.ErrNotRepaired) {
		t.Errorf("Repair = %v, want ErrNotRepaired", err)
	}
}
