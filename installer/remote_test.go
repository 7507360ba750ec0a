package installer_test

import (
	"context"
	"testing"
	"testing/fstest"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/testenv"
)

// If the call has an abbreviated commit, VerifyRemote compares the lock with the full commit. If
// a tag later gets the same name, VerifyRemote follows the tag.
func TestVerifyRemoteShortCommit(t *testing.T) {
	t.Parallel()
	p := world(t, historyWorld)
	first, err := p.world.Commit("net.git", "v1.0.0")
	testenv.Must(t, err)
	p.write(t, "main.tf", "module \"net\" {\n  source = \""+p.world.GitSource("net.git", "?ref="+first[:10])+"\"\n}\n")
	p.mustInstall(t, request{})
	verify := func(requests int) {
		t.Helper()
		p.world.ResetRequests()
		origins, err := p.installer().VerifyRemote(context.Background(), installer.Project{Dir: p.dir}, installer.OriginOptions{})
		if err != nil || len(origins.Modules) != 1 {
			t.Fatalf("VerifyRemote = %v, %v", origins, err)
		}
		if o := origins.Modules[0]; o.Err != nil || o.Moved() || o.Locked != first || o.Ref.String() != "commit "+first {
			t.Errorf("VerifyRemote = %+v, want the commit %s", o, first)
		}
		if got := len(p.world.Requests()); got > requests {
			t.Errorf("VerifyRemote sent %d requests, want at most %d: %v", got, requests, p.world.Requests())
		}
	}
	verify(4) // checks if a ref has that name, first without git and then with git
	moved := fstest.MapFS{"main.tf": &fstest.MapFile{Data: []byte("# moved\n")}}
	testenv.Must(t, p.world.MoveTag("net.git", "v1.1.0", moved))
	verify(4)
	// A tag with that name takes precedence, as in an installation.
	testenv.Must(t, p.world.PublishTag("net.git", first[:10], moved))
	origins, err := p.installer().VerifyRemote(context.Background(), installer.Project{Dir: p.dir}, installer.OriginOptions{})
	if err != nil || len(origins.Modules) != 1 || !origins.Modules[0].Moved() || origins.Modules[0].Ref.Kind != getmodules.ReferenceTag {
		t.Errorf("VerifyRemote = %+v, %v; want the tag that has the name now", origins, err)
	}
}
