package providerfetch_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/disk/providerzip"
	"github.com/cotterpin/cotter/internal/rules/evidencerules"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/internal/store/providerfetch"
	"github.com/cotterpin/cotter/internal/store/userkey"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/versions"
)

const secret = "a secret that has 32 characters.."

var (
	fetches = []string{"authenticate", "download", "package"}
	asks    = []string{"authenticate", "package"}
)

type source struct {
	archives map[addrs.Platform][]byte
	// hidden means that the hashes of archives are not announced.
	hidden bool
	// dir is the directory of the package for all platforms.
	dir string
	// reported are h1 hashes that the source confirms.
	reported map[addrs.Platform]hashing.Hash
	// fail is the error that authentication returns.
	fail error
	// gives is the evidence for all packages. If it is zero, that is a signature, or the mirror
	// "memory" for packages without hashes.
	gives evidence.Evidence
	// local means that the source can be read without requests.
	local bool
	// announced are hashes of which a package must have one.
	announced []hashing.Hash
	// hang is closed when a download has begun. That download ends only if its context does.
	hang chan struct{}
	// all, if not nil, counts authentications. A download waits for all of them.
	all *sync.WaitGroup

	mu    sync.Mutex
	asked []string
}

func (s *source) count(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, what)
}

// requests returns the requests since the last call, sorted.
func (s *source) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := s.asked
	s.asked = nil
	slices.Sort(asked)
	return asked
}

func (s *source) Versions(context.Context, addrs.Provider) (getproviders.Listing, error) {
	return getproviders.Listing{}, getproviders.ErrNotFound
}

func (s *source) Package(_ context.Context, _ addrs.Provider, _ versions.Version, platform addrs.Platform) (getproviders.Package, error) {
	s.count("package")
	if s.archives[platform] == nil && s.dir == "" {
		return nil, getproviders.ErrUnsupportedPlatform
	}
	return &sourcePackage{s, platform}, nil
}

func (s *source) evidence() evidence.Evidence {
	switch {
	case !s.gives.IsZero():
		return s.gives
	case s.hidden || s.dir != "":
		return evidence.Evidence{Kind: evidence.Mirror, By: "memory"}
	}
	return evidence.Evidence{Kind: evidence.Signature, By: "AB"}
}

func (s *source) Evidence(addrs.Provider) []evidence.Evidence {
	return []evidence.Evidence{s.evidence()}
}

func (s *source) Local() getproviders.Source {
	if s.local {
		return s
	}
	return getproviders.Multi(nil)
}

type sourcePackage struct {
	*source
	platform addrs.Platform
}

func zhOf(archive []byte) hashing.Hash {
	return hashing.Hash(fmt.Sprintf("zh:%x", sha256.Sum256(archive)))
}

func (p *sourcePackage) Location() string { return "memory:" + p.platform.String() }
func (p *sourcePackage) Dir() string      { return p.dir }
func (p *sourcePackage) ReportsH1() bool  { return p.reported[p.platform] != "" }

func (p *sourcePackage) Archive() hashing.Hash {
	if p.hidden || p.dir != "" {
		return ""
	}
	return zhOf(p.archives[p.platform])
}

func (p *sourcePackage) Authenticate(ctx context.Context) (getproviders.Authentication, error) {
	p.count("authenticate")
	if p.hang != nil {
		select {
		case <-p.hang:
		case <-ctx.Done():
		}
	}
	if p.fail != nil {
		return getproviders.Authentication{}, p.fail
	}
	if p.all != nil {
		p.all.Done()
	}
	if p.hidden || p.dir != "" {
		return getproviders.Authentication{Evidence: p.evidence(), Announced: p.announced}, nil
	}
	auth := getproviders.Authentication{Evidence: p.evidence(), KeyID: "AB", Own: []hashing.Hash{p.Archive()}}
	for platform, archive := range p.archives {
		auth.Hashes = append(auth.Hashes, zhOf(archive))
		if h1 := p.reported[platform]; h1 != "" {
			if auth.Hashes = append(auth.Hashes, h1); platform == p.platform {
				auth.Own = append(auth.Own, h1)
			}
		}
	}
	return auth, nil
}

func (p *sourcePackage) Download(ctx context.Context, file *os.File, progress func(done, total int64)) error {
	p.count("download")
	if p.hang != nil {
		close(p.hang)
		<-ctx.Done()
		return ctx.Err()
	}
	if p.all != nil {
		p.all.Wait()
	}
	archive := p.archives[p.platform]
	_, err := file.Write(archive)
	progress(int64(len(archive)), int64(len(archive)))
	return err
}

type world struct {
	source *source
	cache  string
	h1, zh map[addrs.Platform]hashing.Hash
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{source: &source{archives: map[addrs.Platform][]byte{}}, cache: t.TempDir(), h1: map[addrs.Platform]hashing.Hash{}, zh: map[addrs.Platform]hashing.Hash{}}
	for _, platform := range []addrs.Platform{linux, mac} {
		w.publish(t, platform, "the provider for "+platform.String())
	}
	return w
}

func (w *world) publish(t testing.TB, platform addrs.Platform, text string) {
	t.Helper()
	archive := zipOf(t, map[string]string{"terraform-provider-cloud_v1.0.0": text, "LICENSE": "free"})
	opened, err := providerzip.Open(bytes.NewReader(archive), int64(len(archive)), "cloud")
	testenv.Must(t, err)
	h1, err := opened.Hash(t.Context())
	testenv.Must(t, err)
	w.source.archives[platform], w.h1[platform], w.zh[platform] = archive, h1, zhOf(archive)
}

func (w *world) getter(t testing.TB) *providerfetch.Getter {
	t.Helper()
	key, err := userkey.FromSecret(secret)
	testenv.Must(t, err)
	store := store.OpenProviders(w.cache, filepath.Join(t.TempDir(), "scratch"), key)
	t.Cleanup(func() { _ = store.Close() })
	return &providerfetch.Getter{Source: w.source, Store: store, Rule: evidencerules.For(evidencerules.Install)}
}
