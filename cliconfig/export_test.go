package cliconfig

// ParseNetrc exports parseNetrc.
var ParseNetrc = parseNetrc

// Find exports find.
func (f netrc) Find(host string) (login, password string, found bool) { return f.find(host) }
