package cotter

// Share returns a copy of in whose runs of Outdated, OutdatedProviders and VerifyRemote
// share what origins answer: each version, tag and package is asked for once, whichever
// configurations need it. Its fields may be set. Answers are kept until done is called,
// after all runs.
//
// InstallAll does the same for installations.
func (in *Installer) Share() (_ *Installer, done func(), err error) {
	key, err := in.userKey(nil)
	if err != nil {
		return nil, nil, err
	}
	copied := *in
	copied.shared, done, err = in.sharedSession(key)
	return &copied, done, err
}
