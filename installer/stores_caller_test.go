package installer_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/ocistore"
)

// ownStore is an embedder's store. It has the content of a bundle, which it may damage.
type ownStore struct {
	ocistore.Store
	info   ocistore.Info
	damage func(target ocispec.Descriptor, content []byte) []byte
}

func (s *ownStore) Info() ocistore.Info { return s.info }

func (s *ownStore) Repository(ctx context.Context, provider addrs.Provider) (ocistore.Repository, error) {
	found, err := s.Store.Repository(ctx, provider)
	return &ownRepository{found, s.damage}, err
}

type ownRepository struct {
	ocistore.Repository
	damage func(target ocispec.Descriptor, content []byte) []byte
}

func (r *ownRepository) Fetch(ctx context.Context, target ocispec.Descriptor) (io.ReadCloser, error) {
	body, err := r.Repository.Fetch(ctx, target)
	if err != nil || r.damage == nil {
		return body, err
	}
	defer body.Close()
	content, err := io.ReadAll(body)
	return io.NopCloser(bytes.NewReader(r.damage(target, content))), err
}

// A store of an embedder confirms entries only if it is trusted. What it delivers is compared
// with digests, sizes and the lock, whatever it claims.
func TestStoreOfCaller(t *testing.T) {
	t.Parallel()
	isBlob := func(at ocispec.Descriptor) bool { return at.MediaType != ocispec.MediaTypeImageManifest }
	flip := func(content []byte) []byte { content[len(content)/2] ^= 1; return content }
	for _, test := range []struct {
		name    string
		trusted bool
		damage  func(ocispec.Descriptor, []byte) []byte
		want    error
	}{
		{"named by the user", true, nil, nil},
		{"not trusted", false, nil, installer.ErrOffline},
		{"other packages", true, func(at ocispec.Descriptor, content []byte) []byte {
			if isBlob(at) {
				return flip(content)
			}
			return content
		}, installer.ErrOffline},
		{"other manifests", true, func(at ocispec.Descriptor, content []byte) []byte {
			if isBlob(at) {
				return content
			}
			return flip(content)
		}, installer.ErrOffline},
		{"longer packages", true, func(_ ocispec.Descriptor, content []byte) []byte { return append(content, 0) }, installer.ErrOffline},
		{"empty packages", true, func(ocispec.Descriptor, []byte) []byte { return nil }, installer.ErrOffline},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p, text := bundled(t)
			store := &ownStore{openBundle(t, text), ocistore.Info{Name: "our store", Local: true, Trusted: test.trusted}, test.damage}
			in := freshInstaller(t, p, store)
			_, err := in.Install(t.Context(), installer.Project{Dir: p.dir}, installer.InstallOptions{Locked: true, Offline: true})
			if !errors.Is(err, test.want) {
				t.Fatalf("Install = %v, want %v", err, test.want)
			}
			if test.want == nil {
				p.mustVerify(t, request{Project: installer.Project{Dir: p.dir}})
				return
			}
			// Its origins still have everything.
			if _, err := in.Install(t.Context(), installer.Project{Dir: p.dir}, installer.InstallOptions{Locked: true}); err != nil {
				t.Errorf("Install from the origins = %v", err)
			}
		})
	}
}
