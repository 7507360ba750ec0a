// Package repofiles says which files the author of a configuration may have Cotter read, and which it may
// quote. The author of a pull request can write file("/proc/self/environ") into the source of a call, which
// Cotter would send to a server of the author's choice, and can commit a link variables.tf -> ~/.netrc, of
// which an error would show a line in the log of a build.
//
// So both look only at files of the repository that the root module is in, and not at the metadata of version
// control. Links are followed before the check.
package repofiles
