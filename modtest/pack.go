package modtest

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io/fs"
	"time"
)

// epoch is the fixed date of everything in archives, and of the first commit of each repository.
var epoch = time.Date(2020, time.January, 1, 0, 0, 0, 0, time.UTC)

func packTarGz(files []file) ([]byte, error) {
	var buf bytes.Buffer
	zw := gzip.NewWriter(&buf)
	tw := tar.NewWriter(zw)
	for _, f := range files {
		if err := tw.WriteHeader(tarHeader(f)); err != nil {
			return nil, err
		}
		if f.mode == fs.ModeSymlink {
			continue
		}
		if _, err := tw.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := tw.Close(); err != nil {
		return nil, err
	}
	if err := zw.Close(); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

func tarHeader(f file) *tar.Header {
	h := &tar.Header{Name: f.path, ModTime: epoch, Typeflag: tar.TypeReg, Mode: int64((f.mode | linkPermissions(f.mode)).Perm()), Size: int64(len(f.data))}
	if f.mode == fs.ModeSymlink {
		h.Typeflag, h.Size, h.Linkname = tar.TypeSymlink, 0, string(f.data)
	}
	return h
}

// linkPermissions are what archivers write for links.
func linkPermissions(mode fs.FileMode) fs.FileMode {
	if mode == fs.ModeSymlink {
		return 0o777
	}
	return 0
}

// storedFrom is the size from which files in ZIP archives are not compressed, which takes longer than all
// else.
const storedFrom = 1 << 20

func packZip(files []file) ([]byte, error) {
	var buf bytes.Buffer
	zw := zip.NewWriter(&buf)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.path, Method: zip.Deflate, Modified: epoch}
		if len(f.data) >= storedFrom {
			h.Method = zip.Store
		}
		h.SetMode(f.mode | linkPermissions(f.mode))
		w, err := zw.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := zw.Close(); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}
