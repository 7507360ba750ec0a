package project

// Abandon releases the locks on the project without any clean-up, as the kernel does when a
// process is killed.
func (p *Project) Abandon() error {
	p.keepStage()
	return p.Close()
}
