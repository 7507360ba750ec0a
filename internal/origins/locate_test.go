package origins_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/origins"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/internal/userkey"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
)

type tags struct{ getmodules.Source }

var one, two, three = strings.Repeat("1", 40), strings.Repeat("2", 40), strings.Repeat("3", 40)

func (tags) Tags(context.Context, getmodules.Request) ([]getmodules.Tag, error) {
	return []getmodules.Tag{{Name: "1.0.0", Revision: one}, {Name: "v1.0.0", Revision: two}, {Name: "v1.1.0", Revision: three}}, nil
}

// Of two tags of one version, the one that points to the locked commit is the entry's, or else the first.
func TestLocateLocked(t *testing.T) {
	t.Parallel()
	address, err := addrs.ParseModuleSource(repositoryAddress)
	testenv.Must(t, err)
	from, err := origins.NewSource(address, new(">= 1.0"))
	testenv.Must(t, err)
	modules, err := store.OpenModules(t.TempDir(), userkey.Random())
	testenv.Must(t, err)
	defer func() { testenv.Must(t, modules.Close()) }()
	o := &origins.Origins{Client: &origins.Client{Fetcher: tags{}, Cache: modules, Requests: make(chan struct{}, 1)}}
	for _, test := range []struct{ version, revision, ref string }{
		{"1.0.0", one, "refs/tags/1.0.0"}, {"1.0.0", two, "refs/tags/v1.0.0"}, {"1.0.0", three, "refs/tags/1.0.0"}, {"1.1.0", three, "refs/tags/v1.1.0"}, {"1.2.0", three, ""},
	} {
		entry := lockfile.Module{Version: versions.MustParse(test.version), Package: addrs.ModuleSourceRemote{Package: from.Repository.WithArg("ref", test.revision)}}
		at, err := o.LocateLocked(t.Context(), from, entry)
		if ref, _ := at.Package.Ref(); ref != test.ref || (err == nil) != (ref != "") || err != nil && !errors.As(err, new(*origins.NotOfferedError)) {
			t.Errorf("%s at %.7s is %q, %v, want %q", test.version, test.revision, ref, err, test.ref)
		}
	}
}
