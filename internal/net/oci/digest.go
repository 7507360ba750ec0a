package oci

import (
	"errors"
	"io"
	"os"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

type Descriptor struct {
	Digest string
	Size   int64
}

// Describe uses sha256.
func Describe(blob []byte) Descriptor {
	return Descriptor{digest.FromBytes(blob).String(), int64(len(blob))}
}

type File struct {
	Descriptor
	Name string
}

// CreateFile writes a blob to a new file. If write fails, the file is removed.
func CreateFile(dir string, write func(io.Writer) error) (_ File, err error) {
	file, err := os.CreateTemp(dir, "blob-*")
	if err != nil {
		return File{}, err
	}
	defer func() {
		if err = errors.Join(err, file.Close()); err != nil {
			_ = os.Remove(file.Name())
		}
	}()
	sum := digest.Canonical.Digester()
	if err := write(io.MultiWriter(file, sum.Hash())); err != nil {
		return File{}, err
	}
	size, err := file.Seek(0, io.SeekCurrent)
	return File{Descriptor{sum.Digest().String(), size}, file.Name()}, err
}

// IsDigest knows the algorithms that the OCI specification registers, sha256 and sha512.
func IsDigest(text string) bool {
	d := digest.Digest(text)
	return d.Validate() == nil && (d.Algorithm() == digest.SHA256 || d.Algorithm() == digest.SHA512)
}

func IsSHA256(text string) bool {
	return IsDigest(text) && digest.Digest(text).Algorithm() == digest.SHA256
}

// OCI returns d in the form of repositories, manifests and indexes.
func (d Descriptor) OCI(mediaType string) ocispec.Descriptor {
	return ocispec.Descriptor{MediaType: mediaType, Digest: digest.Digest(d.Digest), Size: d.Size}
}

func descriptorOf(found ocispec.Descriptor) Descriptor {
	return Descriptor{found.Digest.String(), found.Size}
}
