package project

// Abandon ends the hold on the project without any clearing away, as the kernel
// does for a process that is killed.
func (p *Project) Abandon() error {
	p.stage = ""
	return p.Close()
}
