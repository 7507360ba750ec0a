//go:build linux || darwin

package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// hostileTable says how a command ends if one of the files on which Cotter relies is
// replaced by something else. A line has the file, the state of the project before the
// replacement, the command, and how the command ends for each of replacements, in their
// order:
//
//	ok    exit status 0, and the project is the same as after an undisturbed
//	      installation: the replacement had no effect
//	asks  the same as ok, and the origin of each module was asked
//	no    another exit status, and a message that names the file; nothing was
//	      changed
//	ok/no, asks/no   both are correct
//	!     after a word: a warning names the file as well
//	-     not run: meaningless, or the same as another column
//
// A file is a path below the project. "@cache/" is the user's cache, and "@state/" is the
// directory of the user's key. A path that ends in "/" is a directory. All files that match
// a <hex> or <name> are replaced.
//
// The states are the keys of [hostileStates]. A test without -exhaustive runs the first line of each verb below each
// comment, with all replacements.
const hostileTable = `
#                                                                                 absent   empty    garbage  huge     fifo     inside   outside  dangling dir      user     other

# The lock. One that is no regular file, or none that parses, is never replaced.
.terraform.lock.hcl                             | installed  | install          | ok       ok       no       no       no       no       no       no       no       ok       ok
.terraform.lock.hcl                             | installed  | install --locked | no       no       no       no       no       no       no       no       no       ok       no
.terraform.lock.hcl                             | installed  | verify           | no       no       no       no       no       no       no       no       no       ok       no
.terraform.lock.hcl                             | installed  | tree             | ok/no    ok/no    no       no       no       no       no       no       no       ok       ok/no
.terraform.lock.hcl                             | dropped    | lock --offline   | ok/no    ok       no       no       no       no       no       no       no       ok       -

# What stock tools see. Links in the place of the upper directories are refused.
.terraform/                                     | installed  | install --locked | ok       no       no       no       no       no       no       no       ok       ok       ok
.terraform/                                     | installed  | verify           | no       no       no       no       no       no       no       no       no       ok       no
.terraform/                                     | installed  | tree             | ok       no       no       no       no       ok       ok       ok       ok       ok       ok/no
.terraform/modules/                             | installed  | install --locked | ok       no       no       no       no       no       no       no       ok       ok       ok
.terraform/modules/                             | installed  | verify           | no       no       no       no       no       no       no       no       no       ok       no
.terraform/modules/                             | installed  | tree             | ok       no       no       no       no       ok       ok       ok       ok       ok       ok/no
.terraform/modules/modules.json                 | installed  | install          | ok       ok       ok       ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok       ok
.terraform/modules/modules.json                 | installed  | install --locked | ok       ok       ok       ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok       ok
.terraform/modules/modules.json                 | installed  | verify           | no       no       no       no       no       no       no       no       no       ok       no
.terraform/modules/modules.json                 | installed  | tree             | ok       ok       ok       ok       ok       ok       ok       ok       ok       ok       ok/no
.terraform/modules/net/                         | installed  | install --locked | ok       ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok       ok       ok
.terraform/modules/net/                         | installed  | verify           | no       no       no       no       no       no       no       no       no       ok       no
.terraform/modules/net/                         | installed  | tree             | ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok       ok/no
.terraform/modules/net/main.tf                  | installed  | install --locked | ok       ok       ok       ok       ok       ok       ok       ok       ok       ok       ok
.terraform/modules/net/main.tf                  | installed  | verify           | no       no       no       no       no       no       no       no       no       ok       no
.terraform/modules/net/main.tf                  | installed  | tree             | ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok       ok/no
.terraform/environment                          | installed  | install --locked | -        ok       ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    -        -
.terraform/environment                          | installed  | tree             | -        ok       ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    -        -

# What Cotter keeps beside them.
.terraform/modules/.cotter/                     | installed  | install --locked | ok       ok/no    ok/no    ok/no    ok/no    no       no       no       ok       ok       ok
.terraform/modules/.cotter/                     | installed  | verify           | no       no       no       no       no       no       no       no       no       ok       no
.terraform/modules/.cotter/lock                 | installed  | install --locked | ok       ok       ok       ok       ok/no    ok/no    ok/no    ok/no    ok/no    ok       ok
.terraform/modules/.cotter/journal              | installed  | install --locked | -        ok!      ok!      ok!/no   ok!/no   ok!/no   ok!/no   ok!/no   ok!/no   -        -
.terraform/modules/.cotter/journal              | installed  | verify           | -        ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    -        -
.terraform/modules/.cotter/journal.json         | installed  | install --locked | -        ok       ok       ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    -        -
.terraform/modules/.cotter/lock.hcl             | cold       | install --locked | asks     asks     asks     asks/no  asks/no  asks/no  asks/no  asks/no  asks/no  ok       asks
.terraform/modules/.cotter/lock.hcl             | installed  | verify           | ok       ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok       ok/no
.terraform/modules/.cotter/lock.hcl             | dropped    | lock --offline   | no       no       no       no       no       no       no       no       no       ok       no
.terraform/modules/.cotter/lock.hcl             | dropped    | install          | ok       ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok       ok
.terraform/modules/.cotter/sums/                | installed  | install --locked | ok       ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok       ok       ok
.terraform/modules/.cotter/sums/                | installed  | verify           | ok       ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok       ok       ok
.terraform/modules/.cotter/sums/<name>          | installed  | install --locked | ok       ok       ok       ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok       ok
.terraform/modules/.cotter/sums/<name>          | edited     | verify           | no       no       no       no       no       no       no       no       no       no       no
.terraform/modules/.cotter/stage/               | edited     | install --locked | ok       ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok       ok       ok
.terraform/modules/.cotter/tree/                | installed  | install --locked | ok       ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok       ok       ok
.terraform/modules/.cotter/tree/                | installed  | verify           | no       no       no       no       no       no       no       no       no       ok       no
.terraform/modules/.cotter/tree/<name>/         | installed  | install --locked | ok       ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok       ok       ok
.terraform/modules/.cotter/tree/<name>/         | installed  | verify           | no       no       no       no       no       no       no       no       no       ok       no
.terraform/modules/.cotter/tree/<name>/shared/policy.json | installed  | install --locked | ok       ok       ok       ok       ok       ok       ok       ok       ok       ok       ok
.terraform/modules/.cotter/tree/<name>/shared/policy.json | installed  | verify           | no       no       no       no       no       no       no       no       no       ok       no
.terraform/modules/.cotter/retired/             | edited     | install --locked | -        ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok       -        -
.terraform/modules/.cotter/trash/               | edited     | install --locked | -        ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok       -        -

# The cache. It may itself be a link, which is the user's choice.
@cache/                                         | checkout   | install --locked | asks     asks!    asks!    asks!    asks!    -        -        asks!    asks     ok/no    asks
@cache/                                         | installed  | cache size       | ok       ok/no    ok/no    ok/no    ok/no    -        -        ok/no    ok       ok       ok
@cache/                                         | installed  | cache verify     | ok       ok/no    ok/no    ok/no    ok/no    -        -        ok/no    ok       ok       ok
@cache/                                         | installed  | cache clean      | ok       ok/no    ok/no    ok/no    ok/no    -        -        ok/no    ok       ok       ok
@cache/tree/                                    | checkout   | install --locked | ok       ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok       ok       ok
@cache/tree/                                    | installed  | cache size       | ok       ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok       ok       ok
@cache/tree/                                    | installed  | cache clean      | ok       ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok       ok       ok
@cache/tree/<hex>/                              | checkout   | install --locked | ok       ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok       ok       ok
@cache/tree/<hex>/                              | installed  | cache verify     | ok       ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    no       ok       no
@cache/tree/<hex>/                              | installed  | cache clean      | ok       ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok       ok       ok
@cache/tree/<hex>/main.tf                       | checkout   | install --locked | ok       ok       ok       ok       ok/no    ok       ok       ok       ok       ok       ok
@cache/tree/<hex>/main.tf                       | installed  | cache verify     | no       no       no       no       no       no       no       no       no       ok       no
@cache/tree/<hex>/main.tf                       | installed  | cache clean      | ok       ok       ok       ok       ok       ok       ok       ok       ok       ok       ok
@cache/stage/                                   | refetch    | install --locked | asks     asks/no  asks/no  asks/no  asks/no  asks/no  asks/no  asks/no  asks     asks     -
@cache/quarantine/                              | damaged    | install --locked | -        ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok       -        -
@cache/quarantine/                              | installed  | cache size       | -        ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok       -        -
@cache/quarantine/                              | installed  | cache clean      | -        ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok       -        -
@cache/fetch/                                   | new        | install          | ok       ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok       ok       ok
@cache/fetch/                                   | installed  | cache clean      | ok       ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok       ok       ok
@cache/fetch/<hex>                              | new        | install          | ok       ok       ok       ok       ok/no    ok/no    ok/no    ok/no    ok/no    ok       ok
@cache/fetch/<hex>.json                         | new        | install          | ok       ok       ok       ok       ok/no    ok/no    ok/no    ok/no    ok/no    ok       ok
@cache/confirmed/                               | unanswered | install --locked | asks     asks/no  asks/no  asks/no  asks/no  asks/no  asks/no  asks/no  asks     ok       asks
@cache/confirmed/                               | installed  | cache clean      | ok       ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok       ok       ok
@cache/confirmed/<hex>                          | unanswered | install --locked | asks     ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok       ok/no
@cache/git/                                     | refetch    | install --locked | asks     asks/no  asks/no  asks/no  asks/no  asks/no  asks/no  asks/no  asks     asks/no  asks
@cache/git/                                     | installed  | cache size       | ok       ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok       ok       ok
@cache/git/                                     | installed  | cache clean      | ok       ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok       ok/no    ok
@cache/git/<hex>/                               | refetch    | install --locked | asks     asks/no  asks/no  asks/no  asks/no  asks/no  asks/no  asks/no  asks     asks/no  asks/no
@cache/git/<hex>/                               | installed  | cache clean      | ok       ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok       ok       ok
@cache/git/<hex>/shallow                        | refetch    | install --locked | asks/no  asks/no  asks/no  asks/no  asks/no  asks/no  asks/no  asks/no  asks/no  asks/no  asks
@cache/git/<hex>.lock                           | refetch    | install --locked | asks     asks     asks     asks     asks/no  asks/no  asks/no  asks/no  asks/no  asks     asks

# The user's key. Without it nothing that earlier runs kept is proof.
@state/                                         | checkout   | install --locked | asks     asks/no  asks/no  asks/no  asks/no  asks/no  asks/no  asks/no  asks     ok/no    asks
@state/key                                      | checkout   | install --locked | asks     asks/no  asks/no  asks/no  asks/no  asks/no  asks/no  asks/no  asks/no  ok/no    asks
@state/key                                      | cold       | install --locked | asks     asks/no  asks/no  asks/no  asks/no  asks/no  asks/no  asks/no  asks/no  ok/no    asks
@state/key                                      | installed  | verify           | ok       ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok/no    ok/no
`

type hostileRow struct {
	section, file, state, command string       // section is the comment above it
	ends                          []hostileEnd // in the order of replacements
}

// hostileEnd is the expected end for one replacement.
type hostileEnd struct {
	run             bool // false for "-"
	ok, asks, no    bool // the ends that are correct; asks means ok with requests to the origins
	warns           bool
	written, column string
}

func parseHostileTable(text string) ([]hostileRow, error) {
	var rows []hostileRow
	section := ""
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			section = cmp.Or(strings.Trim(line, "# "), section)
			continue
		}
		fields := strings.Split(line, "|")
		if len(fields) != 4 {
			return nil, fmt.Errorf("%q has %d parts, want 4", line, len(fields))
		}
		words := strings.Fields(fields[3])
		if len(words) != len(replacements) {
			return nil, fmt.Errorf("%q has %d ends, want %d", line, len(words), len(replacements))
		}
		row := hostileRow{section: section, file: strings.TrimSpace(fields[0]), state: strings.TrimSpace(fields[1]), command: strings.TrimSpace(fields[2])}
		for i, word := range words {
			parts := strings.Split(strings.ReplaceAll(word, "!", ""), "/")
			row.ends = append(row.ends, hostileEnd{
				run: word != "-", ok: slices.Contains(parts, "ok"), asks: slices.Contains(parts, "asks"), no: slices.Contains(parts, "no"),
				warns: strings.Contains(word, "!"), written: word, column: replacements[i].name,
			})
			if end := row.ends[i]; end.run && !end.ok && !end.asks && !end.no {
				return nil, fmt.Errorf("%q: %q is no end", line, word)
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}
