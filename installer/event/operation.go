package event

// Operation is something that a run asks of a server or of another program; see installer.Options.Trace.
type Operation struct {
	// Kind is "http" for a request, with the redirects that it follows, "git" or "hg" for a run of
	// that program, "ssh" for a login to a git server without that program, and "fetch" for getting a
	// package, which consists of others.
	Kind string
	// Name is the method of a request, or the subcommand of a program; "" for a fetch or a login.
	Name string
	// Target is the URL of a request without its query, the address of a login, or the package of a
	// fetch. It has no credentials. It is "" for a program.
	Target string
}
