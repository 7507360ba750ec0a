package main

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOutcomesInTerminal checks that the long name of one provider does not leave too little room for
// the addresses of all modules in a terminal.
func TestOutcomesInTerminal(t *testing.T) {
	t.Parallel()
	list := []resultLine{
		{verb: "added", subject: "dns", what: "git::https://git.example.com/platform.git//modules/dns?ref=v2.1.0"},
		{verb: "added", subject: "network", what: "registry.example.com/acme/network/aws 1.2.3"},
		{verb: "added", subject: "provider registry.example.com/acme/cloud", what: "2.1.4 (signed)"},
	}
	for columns, want := range map[int]string{
		80: `added  dns
    git::https://git.example.com/platform.git//modules/dns?ref=v2.1.0
added  network  registry.example.com/acme/network/aws 1.2.3
added  provider registry.example.com/acme/cloud  2.1.4 (signed)
`,
		0: `added  dns                                       git::https://git.example.com/platform.git//modules/dns?ref=v2.1.0
added  network                                   registry.example.com/acme/network/aws 1.2.3
added  provider registry.example.com/acme/cloud  2.1.4 (signed)
`,
	} {
		var out bytes.Buffer
		(&output{stdout: &out, columns: columns}).printOutcomes(list, "")
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("at %d columns (-want +got):\n%s", columns, diff)
		}
	}
}
