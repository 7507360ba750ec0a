package layering_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/net/html"
)

// TestSite builds the site and checks its pages. Every page must have a heading. Every link and
// picture must be on another host or point to a file of the site, and every fragment must point
// to an element of that file.
func TestSite(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("hugo"); err != nil {
		t.Skip("hugo is not installed")
	}
	dir := t.TempDir()
	// These options prevent Hugo from creating files next to the sources.
	cmd := exec.CommandContext(t.Context(), "hugo", "--quiet", "--noBuildLock", "--cacheDir", t.TempDir(), "--destination", dir)
	cmd.Dir = "../../site"
	cmd.Env = append(os.Environ(), "HUGO_RESOURCEDIR="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("hugo: %v\n%s", err, out)
	}
	if err := checkLinks(os.DirFS(dir)); err != nil {
		t.Error(err)
	}
}

// document is a page of the site, with the ids of its elements and the targets of its links.
type document struct {
	ids, links []string
}

// checkLinks returns an error for each broken link of a site.
func checkLinks(site fs.FS) error {
	documents := map[string]document{}
	err := fs.WalkDir(site, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".html" {
			return err
		}
		documents[name], err = readDocument(site, name)
		return err
	})
	if err != nil {
		return err
	}
	if len(documents) == 0 {
		return errors.New("the site has no pages")
	}
	var broken []error
	for name, d := range documents {
		for _, link := range d.links {
			if err := follow(site, documents, name, link); err != nil {
				broken = append(broken, fmt.Errorf("%s: %s: %w", name, link, err))
			}
		}
	}
	slices.SortFunc(broken, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(broken...)
}

func readDocument(site fs.FS, name string) (document, error) {
	file, err := site.Open(name)
	if err != nil {
		return document{}, err
	}
	defer file.Close()
	root, err := html.Parse(file)
	if err != nil {
		return document{}, fmt.Errorf("%s: %w", name, err)
	}
	var d document
	heading := false
	for node := range root.Descendants() {
		heading = heading || node.Data == "h1"
		for _, a := range node.Attr {
			switch a.Key {
			case "id":
				d.ids = append(d.ids, a.Val)
			case "href", "src":
				d.links = append(d.links, a.Val)
			}
		}
	}
	if !heading {
		return d, fmt.Errorf("%s has no heading", name)
	}
	return d, nil
}

// follow returns an error if a link on a page is broken.
func follow(site fs.FS, documents map[string]document, page, link string) error {
	u, err := url.Parse(link)
	if err != nil || u.IsAbs() || u.Host != "" {
		return err
	}
	target := page
	if u.Path != "" {
		target = path.Join(path.Dir(page), u.Path)
	}
	if _, err := fs.Stat(site, target); err != nil {
		return err
	}
	if u.Fragment != "" && !slices.Contains(documents[target].ids, u.Fragment) {
		return fmt.Errorf("%s has no element %q", target, u.Fragment)
	}
	return nil
}

func TestCheckLinks(t *testing.T) {
	t.Parallel()
	page := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	tests := []struct {
		name, index string
		want        string
	}{
		{"another page", `<a href="a.html">`, ""},
		{"an element", `<a href="a.html#part">`, ""},
		{"its own element", `<h1 id="x"><a href="#x">`, ""},
		{"another host", `<a href="https://example.com/nothing">`, ""},
		{"a picture", `<img src="p.svg">`, "index.html: p.svg: "},
		{"no such page", `<a href="b.html">`, "index.html: b.html: "},
		{"no such element", `<a href="a.html#other">`, `a.html has no element "other"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			err := checkLinks(fstest.MapFS{"index.html": page("<h1>Start</h1>" + test.index), "a.html": page(`<h1 id="part">A</h1>`)})
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("checkLinks: %v, want %q", err, test.want)
			}
		})
	}
	if err := checkLinks(fstest.MapFS{"index.html": page("")}); err == nil {
		t.Error("an empty page is accepted")
	}
	if err := checkLinks(fstest.MapFS{}); err == nil {
		t.Error("a site without pages is accepted")
	}
}
