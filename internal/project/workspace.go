package project

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cotterpin/cotter/internal/disk/atomicfile"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
)

// workspaceName is the file in the data directory with the name of the selected workspace, and maxWorkspace its
// maximum size in bytes.
const (
	workspaceName = "environment"
	maxWorkspace  = 4096
)

// Workspace returns the workspace that was selected with a stock tool, or "default". dataDir is the path of the data
// directory.
func Workspace(dataDir string) (string, error) {
	// A repository could have a link here, for example to /etc, where programs keep secrets in
	// a file of the same name.
	if info, err := os.Lstat(dataDir); err == nil && info.Mode().Type() == fs.ModeSymlink {
		if _, err := os.Lstat(filepath.Join(dataDir, workspaceName)); err == nil {
			return "", fmt.Errorf("the selected workspace is not read, because %s is a symbolic link", dataDir)
		}
	}
	data, err := pathsafe.OpenRoot(dataDir)
	if errors.Is(err, fs.ErrNotExist) {
		return "default", nil
	}
	if err != nil {
		return "", err
	}
	defer data.Close()
	name, err := atomicfile.Read(data, workspaceName, maxWorkspace)
	if errors.Is(err, fs.ErrNotExist) {
		return "default", nil
	}
	return cmp.Or(strings.TrimSpace(string(name)), "default"), err
}
