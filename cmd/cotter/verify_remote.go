package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cotterpin/cotter"
)

// verifyRemote compares the lock with the origins, and prints the result. report is the result of
// the comparison without them. The returned statusError has the status 0 if all origins have the
// locked content.
func verifyRemote(ctx context.Context, in *cotter.Installer, out *output, req cotter.Request, report *cotter.Report, found *findings) (statusError, error) {
	list, err := in.VerifyRemote(ctx, req)
	if err != nil {
		return statusError{}, err
	}
	origins := comparedOrigins(list, report)
	err = found.origins(req, origins)
	if err != nil {
		return statusError{}, err
	}
	if out.json {
		if err := out.writeJSON(originsRecord{jsonOrigins(origins)}); err != nil {
			return statusError{}, err
		}
	} else {
		out.origins(origins)
	}
	failed := statusError{}
	for _, o := range origins {
		switch {
		case o.Moved():
			failed.error, failed.status = errMoved, failed.status|exitStale
			if o.Ref == "" { // the same name has other content
				failed.causes = append(failed.causes, &cotter.ContentChangedError{Key: o.Path.String(), Locked: o.Locked, Now: o.Now})
			}
		case o.Err != nil:
			failed.error, failed.status = cmp.Or(failed.error, errUnknown), failed.status|exitUnverifiable
			failed.causes = append(failed.causes, o.Err)
		case !o.OK():
			failed.error, failed.status = cmp.Or(failed.error, errUnknown), failed.status|exitUnverifiable
		}
	}
	return failed, nil
}

// comparedOrigin is the origin of a module whose files are in Vendored, relative to the root
// module; "" if the module is not vendored.
type comparedOrigin struct {
	cotter.Origin
	Vendored string
}

func comparedOrigins(list []cotter.Origin, report *cotter.Report) []comparedOrigin {
	vendored := make(map[string]string)
	for _, p := range report.Packages {
		vendored[p.Key] = p.Vendored
	}
	origins := make([]comparedOrigin, len(list))
	for i, o := range list {
		origins[i] = comparedOrigin{o, vendored[o.Path.String()]}
	}
	return origins
}

// moved describes an origin that has other content than the lock.
func (o comparedOrigin) moved() string {
	now := short(o.Locked) + " -> " + short(o.Now)
	switch {
	case o.Ref != "":
		return fmt.Sprintf("%s: %s moved %s", o.Package, o.Ref, now)
	case o.Vendored != "":
		return fmt.Sprintf("%s: other content than at the origin %s: %s", o.Vendored, o.Package, now)
	}
	return fmt.Sprintf("%s: content changed %s", o.Package, now)
}

// note describes a locked commit that no branch or tag is known to contain. It returns "" if there
// is none.
func (o comparedOrigin) note() string {
	unreachable, ok := errors.AsType[*cotter.UnreachableError](o.History)
	switch {
	case o.History == nil:
		return ""
	case !ok:
		return o.Package + ": " + o.History.Error()
	case !unreachable.Unknown:
		return fmt.Sprintf("no branch or tag of %s contains the locked commit %s", o.Package, short(unreachable.Commit))
	}
	text := fmt.Sprintf("whether a branch or tag of %s contains the locked commit %s is not known", o.Package, short(unreachable.Commit))
	if unreachable.Err != nil {
		text += ": " + unreachable.Err.Error()
	}
	return text
}

// origins prints each origin that has moved once, with the calls that use it, and then the notes.
func (o *output) origins(origins []comparedOrigin) {
	var moves, notes usedTexts
	same, compared, before := 0, 0, 0
	for _, origin := range origins {
		switch {
		case origin.Err != nil:
			for _, m := range messages(origin.Err) {
				o.printf("- %s\n", o.explained(m).line())
			}
		case origin.Moved():
			moves.add(origin.moved(), origin)
		case origin.OK():
			same++
		}
		if note := origin.note(); note != "" {
			notes.add("note: "+note, origin)
		}
		switch {
		case origin.Compared:
			compared++
		case origin.OK():
			before++
		}
	}
	moves.print(o)
	notes.print(o)
	how := ""
	if compared > 0 {
		how += fmt.Sprintf("; %d fetched and compared", compared)
	}
	if before > 0 {
		how += fmt.Sprintf("; %d confirmed before", before)
	}
	o.notef("%d of %s still have the locked content%s.\n", same, count(len(origins), "origin"), how)
}

// usedTexts are texts about origins that several calls can have in common.
type usedTexts struct {
	order []string
	users map[string][]string
}

// add adds a text about the origin of a call.
func (u *usedTexts) add(text string, origin comparedOrigin) {
	if u.users == nil {
		u.users = make(map[string][]string)
	}
	if u.users[text] == nil {
		u.order = append(u.order, text)
	}
	rng := origin.Call.Range
	u.users[text] = append(u.users[text], fmt.Sprintf("%s (%s:%d)", origin.Path, rng.Filename, rng.Start.Line))
}

// print prints each text once, with the calls.
func (u *usedTexts) print(o *output) {
	for _, text := range u.order {
		o.printf("- %s, used by %s\n", text, strings.Join(u.users[text], ", "))
	}
}

// short shortens a commit or a digest to its first digits. It returns other text unchanged.
func short(revision string) string {
	const commit, digits = 40, 12
	scheme, value, ok := strings.Cut(revision, ":")
	if !ok {
		scheme, value = "", revision
	} else if scheme == "sha256" || scheme == "sha512" {
		scheme += ":"
	} else {
		return revision
	}
	if len(value) < commit || strings.Trim(value, "0123456789abcdef") != "" {
		return revision
	}
	return scheme + value[:digits]
}

// jsonOrigin is the origin of a module call in the output of verify --remote.
type jsonOrigin struct {
	Key     string `json:"key"`
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Package string `json:"package,omitempty"`
	Ref     string `json:"ref,omitempty"`
	Locked  string `json:"locked,omitempty"`
	Now     string `json:"now,omitempty"`
	Moved   bool   `json:"moved"`
	// Vendored is the package's directory in the repository, if the package is vendored.
	Vendored string `json:"vendored,omitempty"`
	// Compared is true if the content was fetched and compared with the lock. Content is not
	// fetched if the origin has confirmed it to this user before.
	Compared bool `json:"compared"`
	// History is present if the locked commit is not what its ref points to, and is not known to
	// be in the history of a branch or a tag.
	History string `json:"history,omitempty"`
	Error   string `json:"error,omitempty"`
}

func jsonOrigins(origins []comparedOrigin) []jsonOrigin {
	list := []jsonOrigin{}
	for _, o := range origins {
		j := jsonOrigin{
			Key:     o.Path.String(),
			File:    o.Call.Range.Filename,
			Line:    o.Call.Range.Start.Line,
			Package: o.Package,
			Ref:     o.Ref,
			Locked:  o.Locked,
			Now:     o.Now,
			Moved:   o.Moved(),

			Vendored: o.Vendored,
			Compared: o.Compared,
		}
		if o.History != nil {
			j.History = o.History.Error()
		}
		if o.Err != nil {
			j.Error = o.Err.Error()
		}
		list = append(list, j)
	}
	return list
}
