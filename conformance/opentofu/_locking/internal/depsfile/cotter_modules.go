package depsfile

import (
	"errors"
	"io/fs"
	"os"

	"github.com/cotterpin/cotter/lockfile"
)

// withModules returns the new content of a lock file: that of src, which has providers only, or what the file has
// with the providers of src if it has locks of modules.
func withModules(src []byte, filename string) ([]byte, error) {
	old, err := os.ReadFile(filename)
	if errors.Is(err, fs.ErrNotExist) {
		return src, nil
	}
	if err != nil {
		return nil, err
	}
	file, err := lockfile.Parse(old, filename)
	if err != nil {
		return nil, err
	}
	providers, err := lockfile.Parse(src, filename)
	if err != nil || len(file.Modules()) == 0 {
		return src, err
	}
	file.SetProviders(providers.Providers())
	return file.Bytes(), nil
}
