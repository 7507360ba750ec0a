package oci_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/cotterpin/cotter/internal/net/oci"
	"github.com/cotterpin/cotter/ocistore"
)

// always delivers the same content for every descriptor.
type always struct {
	ocistore.Repository
	content string
}

func (a always) Fetch(context.Context, ocispec.Descriptor) (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader(a.content)), nil
}

// TestReadManifest checks that a manifest has the digest and the size that the index says: parsing relies on it.
func TestReadManifest(t *testing.T) {
	t.Parallel()
	at := oci.Describe([]byte(manifest))
	for name, content := range map[string]string{
		"": manifest, "other content": strings.ToUpper(manifest), "cut off": manifest[1:], "longer": manifest + " ", "nothing": "",
	} {
		got, err := oci.ReadManifest(t.Context(), always{content: content}, at)
		if name == "" && (err != nil || string(got.Text) != manifest) || name != "" && !errors.Is(err, oci.ErrContent) {
			t.Errorf("ReadManifest of %q = %q, %v", name, got.Text, err)
		}
	}
}
