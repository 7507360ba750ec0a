package modpkg

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/cotterpin/cotter/hashing"
)

// WriteLayer writes the archive of a tree to a new file and returns the artifact of a statement
// with this layer. fsys has the files of the tree. form is described at [WriteZip].
func WriteLayer(ctx context.Context, name string, fsys fs.FS, tree *hashing.Tree, form int, s Statement) (_ Artifact, err error) {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return Artifact{}, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	sum := sha256.New()
	if err := WriteZip(ctx, io.MultiWriter(file, sum), fsys, tree, form); err != nil {
		return Artifact{}, err
	}
	size, err := file.Seek(0, io.SeekCurrent)
	return Artifact{Statement: s, Layer: "sha256:" + hex.EncodeToString(sum.Sum(nil)), Size: size}, err
}
