package inprocess

import (
	"bufio"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/go-git/go-billy/v5"
)

// checkConfig returns an error for repositories that go-git would misread.
func checkConfig(disk billy.Filesystem) error {
	return eachLine(disk, "config", func(line string) error {
		key, value, _ := strings.Cut(strings.ToLower(line), "=")
		value = strings.Trim(value, " \t\"")
		switch key = strings.TrimSpace(key); {
		case key == "objectformat" && value != "sha1":
			return failure(Unsupported, "the repository names its objects by %s", printable(value))
		case key == "refstorage" && value != "files":
			return failure(Unsupported, "the repository keeps its refs in the format %s", printable(value))
		}
		return nil
	})
}

// checkAlternates returns an error for repositories that borrow objects from relative paths,
// because go-git interprets them as absolute paths.
func checkAlternates(disk billy.Filesystem) error {
	return eachLine(disk, "objects/info/alternates", func(line string) error {
		if line != "" && !strings.HasPrefix(line, "#") && !filepath.IsAbs(line) {
			return failure(Unsupported, "the repository borrows objects from the relative path %s", printable(line))
		}
		return nil
	})
}

// eachLine calls check for each line of a file. The file does not have to exist. Reading fails
// after maxConfig bytes.
func eachLine(disk billy.Filesystem, name string, check func(line string) error) (err error) {
	f, err := disk.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	lines := bufio.NewScanner(&limitedReader{r: f, left: maxConfig, what: name})
	for lines.Scan() {
		if err := check(lines.Text()); err != nil {
			return err
		}
	}
	return lines.Err()
}

// maxConfig bounds the size of a repository's settings, in bytes. Legitimate files are much
// smaller.
const maxConfig = 4 << 20
