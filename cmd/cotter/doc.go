// Command cotter installs the modules and providers of an OpenTofu or Terraform
// configuration, locks the selected packages, and verifies them on every later run.
//
// The exit status is 0 for success, 1 for failure, 2 for a wrong command line, 3 if outdated or diff list
// something with --exit-code, and 130 after an interruption. Once init has started tofu or terraform, it
// is the status of that tool.
//
// The command is a program on the public API. Each subcommand has a file of its name:
//
//   - app.go lists the subcommands; request.go turns flags, the environment and settings into a request,
//     installer.go makes the installer, and projects.go runs a command for several projects.
//   - printerror.go prints what internal/cli/advice says of a failure, with the flags of the run (again.go).
//     Tables, excerpts and live lines are in internal/cli/view, the pictures of tree and diff in internal/cli/graph.
//   - format.go has the formats of tree and diff. Lines of JSON are the values of internal/cli/records.
//
// Of the other internal packages, it and those in internal/cli import only these:
//
//   - internal/store inspects and cleans the user's cache;
//   - internal/disk/pathsafe has the error about a cache that other users can change;
//   - internal/disk/packagelimits has the error about too little space;
//   - internal/cli/repository finds root modules, and those that a change affects;
//   - internal/configuration/repofiles reads files of which messages quote a line;
//   - internal/git has what git and ssh say about a host, for which there are remedies;
//   - internal/text/sanitize makes foreign text safe on terminals;
//   - internal/text/textform writes paths of any bytes in JSON;
//   - internal/installerinternal has functions of package installer that no other program needs;
//   - internal/text/lazyregexp compiles regular expressions when they are needed;
//   - internal/process/procgroup finds programs in PATH and limits their environment, for init and demo;
//   - internal/disk/atomicfile reads files that the user names, such as settings and keys, with a limit;
//   - internal/net/hostname has the form of a URL to which credentials are bound;
//   - internal/net/httpx has the errors of requests, and the rules for hosts that only a package names.
package main
