// Command linkcheck checks a built site: every page has a heading, every link and picture
// that is not on another host leads to a file of the site, and every fragment to an
// element of that file.
//
//	go run ./site/linkcheck DIR
//
// It prints the links that lead nowhere and exits with 1 if there is one. It sends no
// requests.
package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: linkcheck DIR")
		os.Exit(2)
	}
	if err := check(os.DirFS(os.Args[1])); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// document is a page of the site: the ids of its elements, and where it links to.
type document struct {
	ids, links []string
}

// check returns an error for each link of a site that leads nowhere.
func check(site fs.FS) error {
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

// follow returns an error if a link on a page leads nowhere.
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
