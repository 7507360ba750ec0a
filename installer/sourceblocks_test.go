package installer_test

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

// sourceBlock is a block of the lock as in the later draft of the proposal.
func sourceBlock(source, version string, hashes ...string) string {
	list := ""
	for _, h := range hashes {
		list += "\"" + h + "\", "
	}
	return "module \"" + source + "\" {\n" +
		"  version = \"" + version + "\"\n  hashes  = [" + list + "]\n}\n"
}

// Calls without an entry take the versions of the blocks whose label is their source address. The blocks
// keep their bytes.
func TestSourceBlocks(t *testing.T) {
	t.Parallel()
	other := h1(t, "2.0.0", ".")
	pins := func(v string) string { return sourceBlock(net, v, h1(t, v, ".")) }
	upgrade := request{InstallOptions: installer.InstallOptions{Update: installer.Update{All: true}}}
	stock := stockRecord{Key: "net", Source: net, Version: "1.2.0"}
	for _, test := range []sourceBlocksTest{
		{name: "pinned", calls: "net " + net + " ~> 1.0", blocks: pins("1.0.0"), want: []string{"net 1.0.0 same source 1.5.0"}},
		{name: "all calls of the source", calls: "a " + net + "\nb " + net, blocks: pins("1.0.0"), want: []string{"a 1.0.0 same source 1.5.0", "b 1.0.0 same source 1.5.0"}},
		{name: "several", calls: "a " + net + "\nb " + net + " < 1.2.0", blocks: pins("1.0.0") + pins("1.2.0"), want: []string{"a 1.2.0 same source 1.5.0", "b 1.0.0 same source"}},
		{name: "the newest", calls: "net " + net, blocks: pins("1.5.0"), want: []string{"net 1.5.0 same source"}},
		{name: "before what a stock tool has installed", calls: "net " + net, blocks: pins("1.0.0"), records: []stockRecord{stock}, want: []string{"net 1.0.0 same source 1.5.0"}},
		{name: "installed, as no block fits", calls: "net " + net + " > 1.1.0", blocks: pins("1.0.0"), records: []stockRecord{stock}, want: []string{"net 1.2.0 installed 1.5.0"}, warns: "version 1.2.0 was selected"},
		{name: "unified", calls: "a " + net + "\nb " + net, blocks: pins("1.0.0"), req: request{InstallOptions: installer.InstallOptions{Unify: true}}, want: []string{"a 1.0.0 same source", "b 1.0.0 same source"}},
		{name: "lock only", calls: "net " + net, blocks: pins("1.0.0"), req: request{InstallOptions: installer.InstallOptions{LockOnly: true}}, want: []string{"net 1.0.0 same source 1.5.0"}},

		{name: "of the package of a directory", calls: "net " + net + "//x", blocks: sourceBlock(net+"//x", "1.0.0", h1(t, "1.0.0", ".")), want: []string{"net 1.0.0 same source 1.5.0"}},
		{name: "of the directory", calls: "net " + net + "//x", blocks: sourceBlock(net+"//x", "1.0.0", h1(t, "1.0.0", "x")), want: []string{"net 1.0.0 same source 1.5.0"}},
		{name: "of another directory", calls: "net " + net + "//x", blocks: pins("1.0.0"), want: []string{"net 1.5.0 newest"}},

		{name: "not allowed", calls: "net " + net + " > 1.0.0", blocks: pins("1.0.0"), want: []string{"net 1.5.0 newest"}, warns: "the block \"" + net + "\" of the lock still pins 1.0.0;"},
		{name: "no longer offered", calls: "net " + net, blocks: sourceBlock(net, "1.1.0", other), want: []string{"net 1.5.0 newest"}, warns: "still pins 1.1.0;"},
		{name: "upgrade", calls: "net " + net, blocks: pins("1.0.0") + pins("1.2.0"), req: upgrade, want: []string{"net 1.5.0 newest"}, warns: "still pins 1.0.0 and 1.2.0;"},
		{name: "update", calls: "a " + net + "\nnet " + net, blocks: pins("1.0.0"), req: request{InstallOptions: installer.InstallOptions{Update: installer.Update{Keys: []addrs.Module{{"net"}}}}}, want: []string{"a 1.0.0 same source 1.5.0", "net 1.5.0 newest"}, warns: "still pins 1.0.0;"},
		{name: "upgrade to what is pinned", calls: "net " + net, blocks: pins("1.5.0"), req: upgrade, want: []string{"net 1.5.0 newest"}},
		{name: "without a version", calls: "net " + net, blocks: sourceBlock(net, "latest", other), want: []string{"net 1.5.0 newest"}},

		{name: "other content", calls: "net " + net, blocks: sourceBlock(net, "1.0.0", other), fails: "1.0.0 has OTHER CONTENT than the lock (" + other[:15] + " -> " + h1(t, "1.0.0", ".")[:15] + ")"},
		{name: "one of two has other content", calls: "net " + net, blocks: pins("1.0.0") + sourceBlock(net, "1.0.0", other), fails: "1.0.0 has OTHER CONTENT than the lock"},
		{name: "two hashes", calls: "net " + net, blocks: sourceBlock(net, "1.0.0", h1(t, "1.0.0", "."), other), fails: "a block with version 1.0.0 of its source (.terraform.lock.hcl:1), but no h1 hash"},
		{name: "no hash", calls: "net " + net, blocks: sourceBlock(net, "1.0.0"), fails: "no h1 hash in it"},
		{name: "upgrade to other content", calls: "net " + net, blocks: sourceBlock(net, "1.5.0", other), req: upgrade, fails: "1.5.0 has OTHER CONTENT than the lock"},
		{name: "accepted", calls: "net " + net, blocks: sourceBlock(net, "1.0.0", other), req: request{InstallOptions: installer.InstallOptions{Update: installer.Update{AcceptAllChanged: true}}}, want: []string{"net 1.0.0 same source 1.5.0"}},
		{name: "locked", calls: "net " + net, blocks: pins("1.0.0"), req: request{InstallOptions: installer.InstallOptions{Locked: true}}, fails: "the lock has no entry for it"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t)
		})
	}
}

type sourceBlocksTest struct {
	name    string
	calls   string
	blocks  string
	req     request
	records []stockRecord
	want    []string
	warns   string // about the blocks; "" means that nothing does
	fails   string
}

func (test sourceBlocksTest) run(t *testing.T) {
	p := world(t, "-- config/main.tf --\n")
	for _, v := range []string{"1.0.0", "1.2.0", "1.5.0"} {
		testenv.Must(t, p.world.PublishVersion("acme/net/aws", v, release(v)))
	}
	p.write(t, ".terraform.lock.hcl", test.blocks)
	text := p.file(".terraform.lock.hcl")
	p.calls(t, test.calls)
	if test.records != nil {
		p.stockInstall(t, nil, test.records...)
	}
	if test.fails != "" {
		if err := p.mustFail(t, test.req); !strings.Contains(err.Error(), test.fails) {
			t.Errorf("error %v, want %q", err, test.fails)
		}
		if now := p.file(".terraform.lock.hcl"); now != text {
			t.Errorf("the lock is now\n%s", now)
		}
		return
	}
	p.checkSelected(t, test.req, test.want...)
	if test.warns != "" {
		p.checkWarned(t, strings.ReplaceAll(test.warns, "MODTEST_HOST", string(p.world.Host())))
	} else if strings.Contains(p.events(), "still pins") {
		t.Errorf("events: %s", p.events())
	}
	if now := p.file(".terraform.lock.hcl"); !strings.Contains(now, text) {
		t.Errorf("the lock is now\n%s", now)
	}
	p.checkSelected(t, request{})
	if !test.req.LockOnly {
		p.mustVerify(t, request{Project: installer.Project{Dir: p.dir}})
	}
}

// release has the files of a version, and h1 is the hash of a directory in it.
func release(v string) fs.FS {
	return modtest.Txtar("-- main.tf --\n# " + v + "\n-- x/main.tf --\n# below " + v + "\n")
}

func h1(t *testing.T, v, dir string) string {
	t.Helper()
	files, err := fs.Sub(release(v), dir)
	testenv.Must(t, err)
	hash, err := hashing.FS(files)
	testenv.Must(t, err)
	return string(hash)
}
