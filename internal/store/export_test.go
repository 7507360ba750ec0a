package store

// The parts that both kinds share.

type InUse = inUse

func (u *inUse) Use(path string) bool { return u.use(path) }

func (u *inUse) Publish(staged, path string, rename func() error) error {
	return u.publish(staged, path, rename)
}

func (u *inUse) Remove(path string, drop func() error) (bool, error) { return u.remove(path, drop) }

func (m *Modules) CheckWith(name string, hash func(dir string) (string, error)) error {
	return m.check(name, hash)
}

func (s *Providers) UseWindowsRules() { s.windows = true }
