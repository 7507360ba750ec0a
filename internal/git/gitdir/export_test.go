package gitdir

// SafeDirectories returns the values of safe.directory that count in an environment.
func SafeDirectories(env []string) ([]string, error) { return Rule{Env: env}.safeDirectories() }

// Allows reports whether a value of safe.directory allows the repository in top.
func Allows(env []string, value, top string) bool { return Rule{Env: env}.allows(value, top) }
