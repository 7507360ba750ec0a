package project

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncTree syncs the whole file system with one call, which is much faster than a call for each file.
func syncTree(root *os.Root, _, _ string) error {
	dir, err := root.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	err = unix.Syncfs(int(dir.Fd()))
	return os.NewSyscallError("syncfs", err)
}
