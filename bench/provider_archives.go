package main

import (
	"archive/zip"
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter/addrs"
)

const providerVersion = "1.2.0"

type providerArchive struct {
	platform addrs.Platform
	name     string // the name of the file
	path     string
	sum      string // the SHA-256 of the file, in hex
}

// makeArchives keeps archives in the user's cache directory, because creating them takes half a minute.
func makeArchives() ([][]providerArchive, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(cache, "cotter-bench", fmt.Sprintf("providers-%d-%d", archiveBytes, unpackedBytes))
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // it is no secret
		return nil, err
	}
	all := make([][]providerArchive, providerCount)
	var group errgroup.Group
	group.SetLimit(2)
	for i := range all {
		platforms := lockPlatforms()
		all[i] = make([]providerArchive, len(platforms))
		for j, platform := range platforms {
			group.Go(func() (err error) {
				all[i][j], err = makeArchive(dir, i, platform)
				return err
			})
		}
	}
	return all, group.Wait()
}

// makeArchive creates the file if necessary.
func makeArchive(dir string, provider int, platform addrs.Platform) (providerArchive, error) {
	a := providerArchive{platform: platform, name: fmt.Sprintf("terraform-provider-p%d_%s_%s.zip", provider, providerVersion, platform)}
	a.path = filepath.Join(dir, a.name)
	if _, err := os.Stat(a.path); errors.Is(err, fs.ErrNotExist) {
		if err := writeArchive(a.path, provider, platform); err != nil {
			return a, err
		}
	}
	file, err := os.Open(a.path)
	if err != nil {
		return a, err
	}
	defer file.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, file)
	a.sum = fmt.Sprintf("%x", sum.Sum(nil))
	return a, err
}

// writeArchive writes an executable of random blocks and zeros, always the same.
func writeArchive(name string, provider int, platform addrs.Platform) (err error) {
	file, err := os.CreateTemp(filepath.Dir(name), "")
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, file.Close()); err == nil {
			err = os.Rename(file.Name(), name)
		}
	}()
	buffered := bufio.NewWriter(file)
	archive := zip.NewWriter(buffered)
	header := &zip.FileHeader{
		Name: fmt.Sprintf("terraform-provider-p%d_v%s", provider, providerVersion), Method: zip.Deflate,
		Modified: time.Date(2020, time.January, 1, 0, 0, 0, 0, time.UTC),
	}
	header.SetMode(0o755)
	entry, err := archive.CreateHeader(header)
	if err != nil {
		return err
	}
	random := rand.NewChaCha8(sha256.Sum256(fmt.Appendf(nil, "%d %s", provider, platform)))
	const block = 1_000_000
	noise, zeros := make([]byte, block), make([]byte, block)
	for i := range unpackedBytes / block {
		content := zeros
		if i%(unpackedBytes/archiveBytes) == 0 {
			_, _ = random.Read(noise) // never fails
			content = noise
		}
		if _, err := entry.Write(content); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), buffered.Flush())
}
