package graph_test

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/cli/graph"
	"github.com/cotterpin/cotter/internal/testenv"
)

var update = flag.Bool("update", false, "rewrite the files in testdata")

// formats are the renderers by the names of their files in testdata.
var formats = map[string]func(graph.Graph) (string, error){
	"tree.txt":  func(g graph.Graph) (string, error) { return g.Text(true), nil },
	"tree.dot":  func(g graph.Graph) (string, error) { return g.DOT(), nil },
	"tree.mmd":  func(g graph.Graph) (string, error) { return g.Mermaid(), nil },
	"tree.html": graph.Graph.HTML,
}

// example returns a graph with every kind of mark, a shared package, modules in their callers'
// packages, and providers.
func example() graph.Graph {
	const network = "git::https://git.example.com/network.git?ref=7c1f791efd61f326ed6102d564d1a65d1eceedf0"
	return graph.Graph{
		Title: "infra",
		Modules: []graph.Module{
			{Key: "app", Source: "./app", Place: "main.tf:1"},
			{Key: "app.network", Source: "registry.example.com/acme/network/aws", Version: "1.2.3", Package: network, Place: "app/main.tf:3"},
			{Key: "app.network.subnets", Source: "./subnets", Place: "main.tf:8"},
			{Key: "app-tags", Source: "registry.example.com/acme/tags/aws", Version: "0.4.0", Package: "https://archives.example.com/tags.zip", Place: "main.tf:9", Marks: []graph.Mark{{Kind: graph.Updated, Text: "0.3.0 -> 0.4.0"}}},
			{Key: "dns", Source: "git::https://git.example.com/platform.git//modules/dns?ref=v2.1.0", Package: "git::https://git.example.com/platform.git?ref=0d07f409", Place: "main.tf:12", Marks: []graph.Mark{{Kind: graph.Updated, Text: "v2.0.0 -> v2.1.0"}, {Kind: graph.Breaking, Text: "output \"zone\" removed"}}},
			{Key: "legacy", Source: "https://archives.example.com/legacy.zip", Package: "https://archives.example.com/legacy.zip", Place: "main.tf:15", Marks: []graph.Mark{{Kind: graph.Content, Text: "under the same name"}}},
			{Key: "network", Source: "registry.example.com/acme/network/aws", Version: "1.2.3", Constraint: "~> 1.2", Package: network, Place: "main.tf:18"},
			{Key: "network.subnets", Source: "./subnets", Place: "main.tf:8"},
			{Key: "queue", Source: "registry.example.com/acme/queue/aws", Place: "main.tf:22", Marks: []graph.Mark{{Kind: graph.Missing}}},
		},
		Providers: []graph.Provider{
			{Name: "acme/cloud", Version: "2.1.4", Constraints: ">= 2.0.0, ~> 2.1", Uses: []graph.Use{
				{Key: "", Constraint: "~> 2.1", By: "required_providers", Place: "main.tf:30"},
				{Key: "app.network", Constraint: ">= 2.0", By: "required_providers", Place: ".terraform/modules/app.network/main.tf:2"},
				{Key: "network", By: "resource cloud_host.a", Place: ".terraform/modules/network/main.tf:9"},
			}, Marks: []graph.Mark{{Kind: graph.Updated, Text: "2.1.3 -> 2.1.4"}}},
			{Name: "hashicorp/null"},
		},
	}
}

func difference() graph.Graph {
	return graph.Graph{
		Title: "infra", Old: "v1.4.0", New: ".terraform.lock.hcl",
		Modules: []graph.Module{
			{Key: "added", Source: "registry.example.com/acme/queue/aws", Version: "2.0.0", Marks: []graph.Mark{{Kind: graph.Added}}},
			{Key: "archive", Source: "https://archives.example.com/legacy.zip", Marks: []graph.Mark{{Kind: graph.Content, Text: "under the same name"}}},
			{Key: "gone", Source: "registry.example.com/acme/old/aws", Version: "1.0.0", Marks: []graph.Mark{{Kind: graph.Removed}}},
			{Key: "network", Source: "registry.example.com/acme/network/aws", Version: "1.1.0", Marks: []graph.Mark{{Kind: graph.Updated, Text: "1.0.0 -> 1.1.0"}}},
			{Key: "network.zone", Source: "registry.example.com/acme/zone/aws", Version: "1.0.0", Marks: []graph.Mark{{Kind: graph.Relocked, Text: `constraint "~> 1.0" -> "1.0.0"`}}},
			{Key: "same", Source: "registry.example.com/acme/same/aws", Version: "1.0.0"},
		},
		Providers: []graph.Provider{{Name: "hashicorp/null", Version: "3.2.2", Marks: []graph.Mark{{Kind: graph.Updated, Text: "3.2.1 -> 3.2.2"}}}},
	}
}

// TestFormats compares the output of the renderers with the files in testdata.
func TestFormats(t *testing.T) {
	t.Parallel()
	worlds := map[string]graph.Graph{"": example(), "diff-": difference(), "empty-": {Title: "empty"}}
	for prefix, g := range worlds {
		for name, render := range formats {
			if strings.HasSuffix(name, ".html") {
				continue // tested by TestPage
			}
			got, err := render(g)
			testenv.Must(t, err)
			file := filepath.Join("testdata", prefix+name)
			if *update {
				testenv.Must(t, os.WriteFile(file, []byte(got), 0o644))
			}
			want, err := os.ReadFile(file)
			testenv.Must(t, err)
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("%s (-want +got; -update rewrites it):\n%s", file, diff)
			}
		}
	}
}

// TestCompareKeys sorts keys from several orders.
func TestCompareKeys(t *testing.T) {
	t.Parallel()
	want := []string{"", "a", "a.b", "a-b", "a0", "a0.b", "a00", "a1", "a1b2", "a1b10", "a2", "a2.x10", "a2-x", "a10", "a10.x", "a10.x2", "a10.x10", "a99999999999999999999", "a100000000000000000000", "b"}
	for range 20 {
		got := slices.Clone(want)
		rand.Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
		slices.SortFunc(got, graph.CompareKeys)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("-want +got:\n%s", diff)
		}
	}
}

// hostile returns a graph with texts that would be markup, script or other syntax in one of the
// formats.
func hostile() graph.Graph {
	payloads := []string{
		`<script>hacked=1</script>`, `</script><script>hacked=1</script>`, `"><img src=x onerror=hacked=1>`, `<!--`, `]]>`, `</svg><script>hacked=1</script>`, `</style>`, `</title>`,
		`javascript:hacked=1`, `"];n0->n1[label="x`, `\`, `\N\G`, `&lt;script&gt;`, `#quot;];click n0 "javascript:hacked=1"`, "a\nclick n0 hacked", "```", "%%{init: {}}%%", "end", "\x1b[2J\u202e\u2028\x00", "\xff", "__proto__",
	}
	g := graph.Graph{Title: payloads[1], Old: payloads[2], New: payloads[0]}
	for i, payload := range payloads {
		g.Modules = append(g.Modules, graph.Module{
			Key: payload, Source: payload, Version: payload, Package: payloads[i/2*2], Place: payload,
			Marks: []graph.Mark{{Kind: graph.Content, Text: payload}},
		})
		g.Providers = append(g.Providers, graph.Provider{Name: payload, Version: payload, Constraints: payload, Uses: []graph.Use{{Key: payload, Constraint: payload, By: payload, Place: payload}}, Marks: []graph.Mark{{Kind: graph.Updated, Text: payload}}})
	}
	return g
}

// checkMarkup returns an error if a document has elements that its renderer does not
// write, or does not parse.
func checkMarkup(document string, known ...string) error {
	decoder := xml.NewDecoder(strings.NewReader(document))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		if !strings.Contains(" "+strings.Join(known, " ")+" ", " "+start.Name.Local+" ") {
			return errors.New("the element " + start.Name.Local)
		}
		for _, a := range start.Attr {
			if strings.HasPrefix(a.Name.Local, "on") || strings.HasSuffix(a.Name.Local, "href") {
				return errors.New("the attribute " + a.Name.Local)
			}
		}
	}
}

// TestHostile has texts that are markup in each format.
func TestHostile(t *testing.T) {
	t.Parallel()
	g := hostile()
	for name, render := range formats {
		text, err := render(g)
		testenv.Must(t, err)
		if err := checkRendered(name, text, len(g.Modules), len(g.Providers)); err != nil {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
	}
}

// checkRendered returns an error if a text of the graph has become markup or syntax. It counts
// the elements that the format uses.
func checkRendered(name, text string, modules, providers int) error {
	if strings.ContainsAny(text, "\x1b\x00\u202e\u2028\r") {
		return errors.New("it has control characters")
	}
	switch name {
	case "tree.html":
		if n := strings.Count(strings.ToLower(text), "<script"); n != 2 {
			return errors.New("it has other scripts than its own")
		}
		if strings.Count(text, "</script") != 2 || strings.Count(text, "</style") != 1 || strings.Contains(text, "<img") || strings.Contains(text, "<!--") {
			return errors.New("it has other elements than its own")
		}
	case "tree.mmd":
		for line := range strings.Lines(text) {
			if !mermaidLine.MatchString(strings.TrimSuffix(line, "\n")) {
				return errors.New("it has the line " + line)
			}
		}
	case "tree.dot":
		for line := range strings.Lines(text) {
			if !dotLine.MatchString(strings.TrimSuffix(line, "\n")) {
				return errors.New("it has the line " + line)
			}
		}
	case "tree.txt":
		if n := strings.Count(text, "├── ") + strings.Count(text, "└── "); n != modules+providers {
			return errors.New("it has other branches than modules and providers")
		}
	}
	return nil
}

// TestGraphviz checks that Graphviz accepts the output for it.
func TestGraphviz(t *testing.T) {
	t.Parallel()
	testenv.Program(t, "dot")
	for _, g := range []graph.Graph{example(), hostile()} {
		cmd := exec.CommandContext(t.Context(), "dot", "-Tsvg")
		cmd.Stdin = strings.NewReader(g.DOT())
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil || stderr.Len() > 0 {
			t.Fatalf("dot: %v\n%s", err, &stderr)
		}
		if err := checkMarkup(string(out), "svg", "g", "title", "text", "path", "polygon", "polyline", "a"); err != nil {
			t.Error(err)
		}
	}
}
