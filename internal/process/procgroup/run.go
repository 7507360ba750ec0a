package procgroup

import "os/exec"

// Run starts a command as [Start] does, and waits until it has ended.
func Run(cmd *exec.Cmd) error {
	ended, err := Start(cmd)
	if err != nil {
		return err
	}
	defer ended()
	return cmd.Wait()
}
