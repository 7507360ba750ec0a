package providerfetch_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/rules/evidencerules"
	"github.com/cotterpin/cotter/internal/store/providerfetch"
	"github.com/cotterpin/cotter/internal/testenv"
)

var (
	signature = evidence.Evidence{Kind: evidence.Signature, By: "AB"}
	named     = evidence.Evidence{Kind: evidence.Mirror, By: "the mirror https://mirror.example.com/"}
	another   = evidence.Evidence{Kind: evidence.Mirror, By: "the mirror https://other.example.com/"}
	brought   = evidence.Evidence{Kind: evidence.Project, By: "terraform.d/plugins"}
)

// TestMemos gets a package from a source with some evidence, and then in another run, in which
// the source gives other evidence. The first evidence counts there only if the second run would
// accept it from its own sources.
func TestMemos(t *testing.T) {
	t.Parallel()
	remembers := []string(nil)
	const anew evidencerules.Run = -1 // earlier evidence does not count
	ruleOf := func(run evidencerules.Run) evidencerules.Rule {
		if run == anew {
			rule := evidencerules.For(evidencerules.VerifyRemote)
			rule.Memos = false
			return rule
		}
		return evidencerules.For(run)
	}
	for name, test := range map[string]struct {
		first, second evidence.Evidence
		stores        []evidence.Evidence
		run           evidencerules.Run
		asked         []string
		want          evidence.Kind // None if the second run fails
	}{
		"a signature":                             {signature, signature, nil, evidencerules.Install, remembers, evidence.Signature},
		"a signature, and now another key":        {signature, evidence.Evidence{Kind: evidence.Signature, By: "CD"}, nil, evidencerules.Locked, remembers, evidence.Signature},
		"a signature, and now a mirror":           {signature, named, nil, evidencerules.Install, remembers, evidence.Signature},
		"a signature, to publish":                 {signature, signature, nil, evidencerules.Publish, remembers, evidence.Signature},
		"a signature, to ask again":               {signature, signature, nil, anew, asks, evidence.Signature},
		"a registry without keys":                 {evidence.Evidence{Kind: evidence.Origin}, signature, nil, evidencerules.Install, remembers, evidence.Origin},
		"a mirror":                                {named, named, nil, evidencerules.Install, remembers, evidence.Mirror},
		"a mirror, and now the registry":          {named, signature, nil, evidencerules.Install, asks, evidence.Signature},
		"a mirror, and now another one":           {named, another, nil, evidencerules.Install, asks, evidence.Mirror},
		"a mirror that is now a store of the run": {named, signature, []evidence.Evidence{another, named}, evidencerules.Install, remembers, evidence.Mirror},
		"another store":                           {named, signature, []evidence.Evidence{another}, evidencerules.Install, asks, evidence.Signature},
		"a bundle that the user has imported":     {evidence.Evidence{Kind: evidence.Imported}, signature, nil, evidencerules.Install, remembers, evidence.Imported},
		"the project":                             {brought, brought, nil, evidencerules.Install, asks, evidence.Project},
		"the project, and now the registry":       {brought, signature, nil, evidencerules.Install, asks, evidence.Signature},
		"the project, to publish":                 {brought, brought, nil, evidencerules.Publish, asks, evidence.None},
		"a signature, and now the project":        {signature, brought, nil, evidencerules.Publish, remembers, evidence.Signature},
		"nothing is confirmed":                    {signature, evidence.Evidence{Kind: evidence.User}, nil, anew, asks, evidence.None},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.source.gives = test.first
			locked := want(linux, w.h1[linux], w.zh[linux])
			if got, err := w.getter(t).Get(t.Context(), locked); err != nil || got.Authentication.Evidence != test.first {
				t.Fatalf("Get = %+v, %v", got, err)
			}
			w.source.requests()
			w.source.gives = test.second
			g := w.getter(t)
			g.Rule, g.Stores = ruleOf(test.run), test.stores
			got, err := g.Get(t.Context(), locked)
			unconfirmed, isUnconfirmed := errors.AsType[*getproviders.UnconfirmedError](err)
			switch {
			case test.want == evidence.None && (!isUnconfirmed || unconfirmed.Evidence != test.second):
				t.Errorf("Get = %+v, %v", got, err)
			case test.want != evidence.None && (err != nil || got.Authentication.Evidence.Kind != test.want):
				t.Errorf("Get = %+v, %v; want the evidence %v", got, err, test.want)
			}
			if diff := cmp.Diff(test.asked, w.source.requests()); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			proof, err := g.Hashes(t.Context(), locked)
			if (err != nil) != (test.want == evidence.None) || err == nil && proof.Authentication.Evidence.Kind != test.want {
				t.Errorf("Hashes = %+v, %v; want the evidence %v", proof, err, test.want)
			}
		})
	}
}

// A package that the project brings is read there again in each run, even without a network. If it
// is gone, the store does not replace it.
func TestProjectPackage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.source.gives, w.source.hidden, w.source.local = brought, true, true
	locked := want(linux, w.h1[linux])
	for range 2 {
		g := w.getter(t)
		g.Offline = true
		got, err := g.Get(t.Context(), locked)
		if err != nil || got.Authentication.Evidence != brought {
			t.Fatalf("Get = %+v, %v", got, err)
		}
		if e := g.Evidence(t.Context(), locked); e != brought {
			t.Errorf("Evidence = %+v", e)
		}
		if g.Rule = evidencerules.For(evidencerules.Publish); !isUnconfirmed(g.Archive(t.Context(), locked)) {
			t.Error("it is published")
		}
		g.Rule.Provider = []evidence.Kind{evidence.Project}
		made, err := g.Archive(t.Context(), locked)
		testenv.Must(t, err)
		if err := made.Close(); err != nil {
			t.Error(err)
		}
	}
	delete(w.source.archives, linux)
	g := w.getter(t)
	if got, err := g.Get(t.Context(), locked); !errors.Is(err, getproviders.ErrUnsupportedPlatform) {
		t.Errorf("after that Get = %+v, %v", got, err)
	}
	g.Offline = true
	if got, err := g.Get(t.Context(), locked); !errors.Is(err, providerfetch.ErrNotAtHand) {
		t.Errorf("after that, offline, Get = %+v, %v", got, err)
	}
	if e := g.Evidence(t.Context(), locked); !e.IsZero() {
		t.Errorf("after that Evidence = %+v", e)
	}
}

func isUnconfirmed(_ *providerfetch.Archive, err error) bool {
	_, is := errors.AsType[*getproviders.UnconfirmedError](err)
	return is
}

// TestUnpackedElsewhere gets a package of which the stock tools' plugin cache, or the project, has a
// copy. The copy counts only if the source confirms its content.
func TestUnpackedElsewhere(t *testing.T) {
	t.Parallel()
	right := map[string]string{"terraform-provider-cloud_v1.0.0": "the provider for linux_amd64", "LICENSE": "free"}
	evil := map[string]string{"terraform-provider-cloud_v1.0.0": "evil"}
	for name, test := range map[string]struct {
		files   map[string]string
		before  func(context.Context, *world, *providerfetch.Getter) error
		offline bool
		asked   []string
		inCache bool // the package is that in the plugin cache
		unfit   bool // this machine cannot run the program
		fails   bool
	}{
		"nothing ties it to the archive":    {files: right, asked: fetches},
		"a forged one":                      {files: evil, asked: fetches, fails: true},
		"offline":                           {files: right, offline: true, fails: true},
		"a forged one, offline":             {files: evil, offline: true, fails: true},
		"the archive was hashed before":     {files: right, before: hashed, asked: asks, inCache: true},
		"a forged one, hashed before":       {files: evil, before: hashed, asked: []string{"package"}, fails: true},
		"the source reports its h1":         {files: right, before: reported, asked: asks, inCache: true},
		"a forged one, the source reports":  {files: evil, before: reported, asked: fetches, fails: true},
		"an earlier run got it":             {files: right, before: gotten, inCache: true},
		"an earlier run got it, offline":    {files: right, before: gotten, offline: true, inCache: true},
		"another one was got before":        {files: evil, before: gotten, asked: []string{"package"}, fails: true},
		"another was got before, offline":   {files: evil, before: gotten, offline: true, fails: true},
		"the directory is not in the cache": {files: nil, before: hashed, asked: fetches},
		"its program is not executable":     {files: right, before: hashed, asked: fetches, unfit: true},
	} {
		if test.unfit && addrs.CurrentPlatform() != linux {
			continue
		}
		for _, place := range []string{"in the plugin cache", "installed"} {
			t.Run(name+", "+place, func(t *testing.T) {
				t.Parallel()
				w, cache := newWorld(t), t.TempDir()
				dir := filepath.Join(cache, "example.com/acme/cloud/1.0.0", linux.String())
				mode := os.FileMode(0o755)
				if test.unfit {
					mode = 0o644
				}
				for file, content := range test.files {
					testenv.Must(t, errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, file), []byte(content), mode)))
				}
				locked := []hashing.Hash{w.h1[linux]}
				if test.files != nil {
					h1, err := hashing.Dir(t.Context(), dir)
					testenv.Must(t, err)
					locked = []hashing.Hash{h1}
				}
				if test.before != nil {
					g := w.getter(t)
					testenv.Must(t, errors.Join(test.before(t.Context(), w, g), g.Store.Close()))
					w.empty(t)
				}
				w.source.requests()
				g := w.getter(t)
				if g.Offline = test.offline; place == "installed" {
					g.Installed = cache
				} else {
					g.PluginCache.Dir = cache
				}
				got, err := g.Get(t.Context(), want(linux, locked...))
				if (err != nil) != test.fails || err == nil && (got.Package.Dir() == dir) != test.inCache {
					t.Errorf("Get = %+v, %v", got, err)
				}
				if diff := cmp.Diff(test.asked, w.source.requests()); diff != "" {
					t.Errorf("requests (-want +got):\n%s", diff)
				}
			})
		}
	}
}

func hashed(_ context.Context, w *world, g *providerfetch.Getter) error {
	g.Store.RecordArchive(w.zh[linux], w.h1[linux])
	return nil
}

func reported(_ context.Context, w *world, _ *providerfetch.Getter) error {
	w.source.reported = w.h1
	return nil
}

func gotten(ctx context.Context, _ *world, g *providerfetch.Getter) error {
	_, err := g.Get(ctx, want(linux))
	return err
}

func TestCheckLocked(t *testing.T) {
	t.Parallel()
	windows := addrs.Platform{OS: "windows", Arch: "amd64"}
	for name, test := range map[string]struct {
		change func(*world)
		locked func(w *world) []hashing.Hash
		want   []hashing.Hash
		asked  []string
		fails  error
	}{
		"the sums":                {nil, func(w *world) []hashing.Hash { return []hashing.Hash{w.zh[mac], w.zh[linux]} }, nil, asks, nil},
		"the h1":                  {nil, func(w *world) []hashing.Hash { return []hashing.Hash{w.h1[linux], w.zh[mac]} }, nil, fetches, nil},
		"the h1 of all platforms": {nil, func(w *world) []hashing.Hash { return []hashing.Hash{w.h1[linux], w.h1[mac]} }, nil, []string{"authenticate", "authenticate", "download", "download", "package", "package"}, nil},
		"reported h1s":            {func(w *world) { w.source.reported = w.h1 }, func(w *world) []hashing.Hash { return []hashing.Hash{w.h1[linux], w.h1[mac]} }, nil, asks, nil},
		"another zh": {
			nil, func(w *world) []hashing.Hash { return []hashing.Hash{otherZH, w.zh[mac]} }, []hashing.Hash{otherZH},
			[]string{"authenticate", "authenticate", "package", "package", "package"}, nil,
		},
		"another h1": {
			nil, func(w *world) []hashing.Hash { return []hashing.Hash{w.h1[linux], otherH1, unknown} }, []hashing.Hash{otherH1},
			[]string{"authenticate", "authenticate", "download", "download", "package", "package", "package"}, nil,
		},
		"only for another platform": {
			func(w *world) { delete(w.source.archives, linux) }, func(w *world) []hashing.Hash { return []hashing.Hash{w.h1[mac], w.zh[mac]} }, nil,
			[]string{"authenticate", "download", "package", "package"}, nil,
		},
		"a mirror without hashes": {
			func(w *world) { w.source.hidden = true }, func(w *world) []hashing.Hash { return []hashing.Hash{w.zh[linux]} }, nil,
			fetches, nil,
		},
		"gone": {func(w *world) { clear(w.source.archives) }, func(w *world) []hashing.Hash { return []hashing.Hash{w.zh[linux]} }, nil, []string{"package", "package", "package"}, getproviders.ErrUnsupportedPlatform},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			locked := test.locked(w)
			if test.change != nil {
				test.change(w)
			}
			got, err := w.getter(t).CheckLocked(t.Context(), want(linux, locked...), []addrs.Platform{mac, windows})
			if diff := cmp.Diff(test.asked, w.source.requests()); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			if !errors.Is(err, test.fails) {
				t.Fatalf("CheckLocked = %+v, %v", got, err)
			}
			if err != nil {
				return
			}
			if diff := cmp.Diff(test.want, append([]hashing.Hash(nil), got.Unknown...)); diff != "" || got.Evidence.IsZero() || got.Location == "" {
				t.Errorf("CheckLocked = %+v; unknown (-want +got):\n%s", got, diff)
			}
		})
	}
	w := newWorld(t)
	g := w.getter(t)
	w.source.gives, g.Rule = brought, evidencerules.For(evidencerules.VerifyRemote)
	if _, err := g.CheckLocked(t.Context(), want(linux, w.zh[linux]), nil); !isUnconfirmed(nil, err) {
		t.Errorf("a package of the project: %v", err)
	}
}
