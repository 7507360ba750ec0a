package providers_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/evidencerules"
	"github.com/cotterpin/cotter/internal/providers"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/internal/userkey"
	"github.com/cotterpin/cotter/registryclient"
	"github.com/cotterpin/cotter/versions"
)

// childTask is the task of a child process.
type childTask struct {
	Cache, Project, URL, Sum string
}

// registry is a registry that has only one package, for example.com/acme/cloud 1.0.0.
type registry childTask

func (r registry) ProviderVersions(context.Context, addrs.Provider) (registryclient.ProviderListing, error) {
	return registryclient.ProviderListing{}, nil
}

func (r registry) ProviderPackage(_ context.Context, provider addrs.Provider, version versions.Version, platform addrs.Platform) (registryclient.ProviderPackage, error) {
	return registryclient.ProviderPackage{
		Provider: provider, Version: version, Platform: platform, Filename: "cloud.zip",
		URL: r.URL + "/cloud.zip", SumsURL: r.URL + "/sums", Sum: r.Sum,
	}, nil
}

const secret = "a secret that has 32 characters.."

// child gets a package and places it in a project.
func child(ctx context.Context, text string) error {
	var task childTask
	if err := json.Unmarshal([]byte(text), &task); err != nil {
		return err
	}
	key, err := userkey.FromSecret(secret)
	if err != nil {
		return err
	}
	stored := store.OpenProviders(task.Cache, "", key)
	defer stored.Close()
	getter := &providers.Getter{Store: stored, Rule: evidencerules.For(evidencerules.Install), Source: &getproviders.Direct{Registry: registry(task), TrustedHost: example.Hostname}}
	got, err := getter.Get(ctx, providers.Want{Provider: example, Version: v100, Platform: linux})
	if err != nil {
		return err
	}
	dir, err := stored.Dir(task.Project)
	if err != nil {
		return err
	}
	defer dir.Close()
	_, err = dir.Install(ctx, got.Package, store.ProviderPath(example, v100, linux), store.LayoutLink)
	return err
}

// If eight processes with one store need the same package at the same time, it is downloaded
// once.
func TestProcesses(t *testing.T) {
	t.Parallel()
	const processes = 8
	archive := zipOf(t, map[string]string{"terraform-provider-cloud": "#!"})
	sum := fmt.Sprintf("%x", sha256.Sum256(archive))
	var mu sync.Mutex
	var proving, downloads int
	all := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/sums" {
			mu.Lock()
			if proving++; proving == processes {
				close(all)
			}
			mu.Unlock()
			fmt.Fprintf(w, "%s  cloud.zip\n", sum)
			return
		}
		mu.Lock()
		downloads++
		mu.Unlock()
		<-all // every process has found that the store does not have it
		http.ServeContent(w, r, "", modified, bytes.NewReader(archive))
	}))
	defer server.Close()
	cache, projects := t.TempDir(), t.TempDir()
	var wait sync.WaitGroup
	for i := range processes {
		task, err := json.Marshal(childTask{Cache: cache, Project: filepath.Join(projects, fmt.Sprint(i)), URL: server.URL, Sum: sum})
		testenv.Must(t, err)
		wait.Go(func() {
			command := exec.CommandContext(t.Context(), os.Args[0])
			command.Env = append(os.Environ(), childVariable+"="+string(task))
			if output, err := command.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, output)
			}
		})
	}
	wait.Wait()
	if downloads != 1 {
		t.Errorf("%d downloads, want 1", downloads)
	}
	var first hashing.Hash
	for i := range processes {
		h1, err := hashing.Dir(t.Context(), filepath.Join(projects, fmt.Sprint(i), store.ProviderPath(example, v100, linux)))
		if err != nil || first != "" && h1 != first {
			t.Errorf("project %d has %s, %v; want %s", i, h1, err, first)
		}
		first = h1
	}
}

func (registry) ProviderRenamed(context.Context, addrs.Provider) (addrs.Provider, bool, error) {
	return addrs.Provider{}, false, nil
}
