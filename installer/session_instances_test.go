package installer_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/versions"
)

// An engine asks once for each instance of a call. All have one module: if they have several sources, the call is left
// out, with all that is below it, and the others are committed.
func TestSessionInstances(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		other    func(*project) config.Call // of another instance of net
		says     []string                   // the error of that one; nil if there is none
		complete bool
		want     []string // the keys in the lock
	}{
		{"the same", func(p *project) config.Call { return netCall(p, "net", "~> 1.0") }, nil, true, []string{"git", "net"}},
		{"another version", func(p *project) config.Call { return netCall(p, "net", "~> 2.0") },
			[]string{`acme/net/aws", version "~> 1.0", and now with the source "`, `acme/net/aws", version "~> 2.0"; all instances of a call have one module`}, true, []string{"git"}},
		{"another source", func(p *project) config.Call { return config.Call{Name: "net", Source: "./net"} },
			[]string{`acme/net/aws", version "~> 1.0", and now with the source "./net"`}, false, []string{"git"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := world(t, sessionWorld)
			s := begin(t, p, installer.InstallOptions{})
			mustModule(t, s, nil, netCall(p, "net", "~> 1.0"))
			mustModule(t, s, addrs.Module{"net"}, config.Call{Name: "inner", Source: "./inner"})
			mustModule(t, s, nil, config.Call{Name: "git", Source: "git::https://" + string(p.world.Host()) + "/git/app.git?ref=v1.0.0"})
			_, err := s.Module(t.Context(), nil, test.other(p))
			if (err != nil) != (test.says != nil) || err != nil && !errors.Is(err, installer.ErrSameKey) {
				t.Fatalf("error %v", err)
			}
			for _, text := range test.says {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("error %v, want %q in it", err, text)
				}
			}
			result, err := s.Commit(t.Context(), installer.CommitOptions{Complete: test.complete})
			testenv.Must(t, err)
			var keys []string
			for _, m := range p.lockOf(t).Modules() {
				keys = append(keys, m.Key)
			}
			if diff := cmp.Diff(test.want, keys); diff != "" {
				t.Errorf("locked (-want +got):\n%s", diff)
			}
			if left := len(result.Unresolved); left != min(len(test.says), 1) || exists(p.dir+"/.terraform/modules/net") != (left == 0) {
				t.Errorf("left out: %v", result.Unresolved)
			}
		})
	}
}

// What the project has for a call stays if its instances now have several sources.
func TestSessionInstancesLater(t *testing.T) {
	t.Parallel()
	p := world(t, sessionWorld)
	p.mustInstall(t, request{})
	before := snapshot(t, p.dir)
	s := begin(t, p, installer.InstallOptions{})
	mustModule(t, s, nil, config.Call{Name: "git", Source: "git::https://" + string(p.world.Host()) + "/git/app.git?ref=v1.0.0"})
	mustModule(t, s, nil, netCall(p, "net", "~> 1.0"))
	if _, err := s.Module(t.Context(), nil, netCall(p, "net", "~> 2.0")); !errors.Is(err, installer.ErrSameKey) {
		t.Errorf("error %v, want ErrSameKey", err)
	}
	_, err := s.Commit(t.Context(), installer.CommitOptions{Complete: true})
	testenv.Must(t, err)
	if diff := cmp.Diff(before, snapshot(t, p.dir)); diff != "" {
		t.Errorf("the project has changed (-before +after):\n%s", diff)
	}
}

// A program that has a set of versions and no text says what the lock is to have as the constraint.
func TestSessionConstraints(t *testing.T) {
	t.Parallel()
	p := world(t, sessionWorld)
	ask := func(constraints string, o installer.InstallOptions) error {
		c := netCall(p, "net", "")
		c.Allowed = func(v versions.Version) bool { return v.String() == "1.0.0" }
		c.Constraints = constraints
		s := begin(t, p, o)
		defer s.Close()
		if _, err := s.Module(t.Context(), nil, c); err != nil {
			return err
		}
		_, err := s.Commit(t.Context(), installer.CommitOptions{})
		return err
	}
	testenv.Must(t, ask("<= 1.0", installer.InstallOptions{}))
	if m, ok := p.lockOf(t).Module("net"); !ok || m.Version.String() != "1.0.0" || m.Constraints.String() != "<= 1.0" {
		t.Errorf("the lock has %v", m)
	}
	locked := installer.InstallOptions{Locked: true}
	testenv.Must(t, ask("<= 1.0", locked))
	if _, ok := errors.AsType[*installer.LockedError](ask("< 2.0", locked)); !ok {
		t.Error("another text is no reason to refuse the lock")
	}
	if err := ask("newest", installer.InstallOptions{}); err == nil || !strings.Contains(err.Error(), "newest") {
		t.Errorf("error %v, want one about the constraint", err)
	}
}
