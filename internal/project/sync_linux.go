package project

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncStage makes everything durable that was staged: by one call for the whole
// file system, which takes a fraction of the time that a call for each file does.
func (p *Project) syncStage() error {
	dir, err := p.modules.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	err = unix.Syncfs(int(dir.Fd()))
	return os.NewSyscallError("syncfs", err)
}
