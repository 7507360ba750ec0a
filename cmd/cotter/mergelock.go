package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cotterpin/cotter/internal/atomicfile"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/spf13/cobra"
)

func mergeLockCommand(out *output) *cobra.Command {
	return command(out, &cobra.Command{
		Use:   "merge-lock BASE OURS THEIRS",
		Short: "merge two lock files, as a merge driver for git",
		Long: "Merges the changes from BASE to THEIRS into OURS. If only one side has changed the\n" +
			"block of a module or provider, the result has that side's block. Blocks that the two\n" +
			"sides have changed in different ways are conflicts. If the sides differ elsewhere, as in\n" +
			"files that are not locks, the whole files conflict. To use the driver in git:\n" +
			"\n" +
			"  echo '.terraform.lock.hcl merge=cotter' >> .gitattributes\n" +
			"  git config merge.cotter.driver 'cotter merge-lock %O %A %B'",
		Hidden: true,
	}, func(_ context.Context, cmd *invocation, out *output) error {
		if cmd.NArg() != 3 {
			return usageError{errors.New("cotter merge-lock takes three files: BASE, OURS and THEIRS")}
		}
		return out.mergeLock(cmd.Arg(0), cmd.Arg(1), cmd.Arg(2))
	}, nil)
}

var (
	errBothChanged  = advised("both sides have changed", "Keep one block of each pair, or take one side whole and run `cotter install`.")
	errOtherChanged = advised("both sides have changed the file, and they differ outside of its module and provider blocks",
		"Only locks are merged: the file has both sides whole. If it is not a lock, name only locks in .gitattributes: `.terraform.lock.hcl merge=cotter`.")
)

// mergeLock writes the result to oursPath, also if it then fails because of conflicts.
func (o *output) mergeLock(basePath, oursPath, theirsPath string) error {
	base, baseErr := readLock(basePath)
	ours, oursErr := readLock(oursPath)
	theirs, theirsErr := readLock(theirsPath)
	if err := errors.Join(baseErr, oursErr, theirsErr); err != nil {
		return err
	}
	merged, conflicts := lockfile.Merge(base, ours, theirs, nil)
	if err := atomicfile.WriteFile(oursPath, merged, atomicfile.Options{}); err != nil {
		return err
	}
	if len(conflicts) == 0 {
		return nil
	}
	if conflicts[0].Type == "other" {
		return errOtherChanged
	}
	var blocks []string
	for _, c := range conflicts {
		blocks = append(blocks, fmt.Sprintf("%s %q", c.Type, c.Label))
	}
	return fmt.Errorf("%w %s", errBothChanged, strings.Join(blocks, ", "))
}

// readLock returns an empty lock if the file does not exist: git has no base for a file that both sides added.
func readLock(path string) (*lockfile.File, error) {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	file, err := lockfile.ReadFile(root, filepath.Base(path))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return file, err
}
