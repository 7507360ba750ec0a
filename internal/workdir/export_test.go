package workdir

// CommitPartly decides a change and does only so many of its steps, as a
// process does that is killed then. It reports whether there was more to do.
func (d *Dir) CommitPartly(c Change, steps int) (more bool, err error) {
	j := d.journal(c)
	if err := d.decide(j); err != nil {
		return false, err
	}
	for i, step := range d.steps(j) {
		if i == steps {
			return true, nil
		}
		if err := step(); err != nil {
			return false, err
		}
	}
	return false, nil
}

// Abandon ends the hold on the directory without any clearing away, as the
// kernel does for a process that is killed.
func (d *Dir) Abandon() error { return d.held.Unlock() }
