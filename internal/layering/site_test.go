package layering_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/cotterpin/cotter/internal/testenv"
)

// TestSite builds the site and checks its pages. Every page must have a heading. Every link and
// picture must be on another host or point to a file of the site, and every fragment must point
// to an element of that file.
func TestSite(t *testing.T) {
	t.Parallel()
	testenv.Program(t, "hugo")
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
	adopt, err := os.ReadFile(filepath.Join(dir, "adopt.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range []string{`<a rel="prev" href="install.html">`, `<a rel="next" href="ci.html">`} {
		if !strings.Contains(string(adopt), link) {
			t.Errorf("a page does not have %s", link)
		}
	}
	home, err := os.ReadFile(filepath.Join(dir, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`(?s)go install .*<table>.*<td>module versions</td>.*<img `).Match(home) {
		t.Error("the first page does not begin with the command that installs Cotter and the table of the README")
	}
	checkSearch(t, dir)
	checkPhone(t, dir, string(adopt))
}

// chromium returns what a page becomes in a browser with a window of the given size. It returns ""
// if Chromium is not installed.
func chromium(t *testing.T, url, size string) string {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		t.Log("chromium is not installed, so no page is drawn")
		return ""
	}
	out, err := exec.CommandContext(t.Context(), program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
		"--user-data-dir="+t.TempDir(), "--window-size="+size, "--virtual-time-budget=10000", "--dump-dom", url).Output()
	if err != nil {
		t.Fatalf("chromium: %v", err)
	}
	return string(out)
}

// checkPhone checks that the header of a page takes less than a tenth of a phone's screen, and that
// the page is not wider than the screen.
func checkPhone(t *testing.T, dir, page string) {
	t.Helper()
	const measure = `<script>
const header = document.querySelector("header"), root = document.documentElement;
document.title = header.offsetHeight < innerHeight / 10 && root.scrollWidth <= innerWidth ? "fits" : header.offsetHeight + " " + root.scrollWidth;
</script></body>`
	if err := os.WriteFile(filepath.Join(dir, "phone.html"), []byte(strings.Replace(page, "</body>", measure, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	drawn := chromium(t, "file://"+dir+"/phone.html", "390,844")
	if title := regexp.MustCompile("<title>.*</title>").FindString(drawn); drawn != "" && title != "<title>fits</title>" {
		t.Errorf("on a phone, the header's height and the page's width are: %s", title)
	}
}

// checkSearch checks that the index of the search has a section of each page, and addresses that
// exist, and that a browser finds a section with it.
func checkSearch(t *testing.T, dir string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "search-index.js"))
	if err != nil {
		t.Fatal(err)
	}
	var index [][4]string // page, heading, address, text
	list := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(string(text)), "const searchIndex = "), ";")
	if err := json.Unmarshal([]byte(list), &index); err != nil {
		t.Fatal(err)
	}
	indexed := map[string]bool{}
	var links strings.Builder
	for _, section := range index {
		name, _, _ := strings.Cut(section[2], "#")
		indexed[name] = true
		fmt.Fprintf(&links, "<a href=%q></a>", section[2])
		if section[0] == "" || section[1] == "" {
			t.Errorf("a section of the index has no title: %q", section)
		}
	}
	pages, err := filepath.Glob(filepath.Join(dir, "*.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		if name := filepath.Base(page); name != "index.html" && !indexed[name] {
			t.Errorf("the search does not find %s", name)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "all.html"), []byte("<h1>All</h1>"+links.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := checkLinks(os.DirFS(dir)); err != nil {
		t.Errorf("the index of the search: %v", err)
	}
	drawn := chromium(t, "file://"+dir+"/index.html?q=min_age_days", "1280,900")
	_, found, _ := strings.Cut(drawn, `id="found"`)
	found, _, _ = strings.Cut(found, "<nav")
	if drawn != "" && !strings.Contains(found, `href="policy.html#rules"`) {
		t.Errorf("a search for a rule of the policy finds: %s", found)
	}
}

// TestSiteMenu compares the menu of the site with the last list of the README: groups, order and
// names. Each page of docs/ must be in the menu.
func TestSiteMenu(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, more, _ := strings.Cut(string(readme), "\n## More\n")
	want := [][]string{{"Start", "readme Overview"}}
	for item := range strings.SplitSeq(strings.ReplaceAll(more, "\n  ", " "), "\n") {
		group, links, ok := strings.Cut(strings.TrimPrefix(item, "- "), ": [")
		if !ok || !strings.HasPrefix(item, "- ") {
			continue
		}
		if group != "Start" {
			want = append(want, []string{group})
		}
		for _, link := range regexp.MustCompile(`\[([^]]+)\]\(docs/([a-z-]+)\.md\)`).FindAllStringSubmatch("["+links, -1) {
			want[len(want)-1] = append(want[len(want)-1], link[2]+" "+link[1])
		}
	}
	config, err := os.ReadFile("../../site/hugo.toml")
	if err != nil {
		t.Fatal(err)
	}
	var got [][]string
	for _, m := range regexp.MustCompile(`(?m)^  name = "(.*)"$|^    \["(.*)", "(.*)"\],$`).FindAllStringSubmatch(string(config), -1) {
		if m[1] != "" {
			got = append(got, []string{m[1]})
		} else {
			got[len(got)-1] = append(got[len(got)-1], m[2]+" "+m[3])
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the menu in site/hugo.toml is not that of the README (-README +menu):\n%s", diff)
	}
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".md")
		if !strings.Contains(string(config), fmt.Sprintf("[%q, ", name)) {
			t.Errorf("docs/%s.md is not in the menu", name)
		}
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
