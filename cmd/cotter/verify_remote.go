package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/cotterpin/cotter"
)

// verifyRemote compares the lock with the origins, and prints the result. The returned
// statusError has the status 0 if all origins have the locked content.
func verifyRemote(ctx context.Context, in *cotter.Installer, out *output, req cotter.Request, found *findings) (statusError, error) {
	origins, err := in.VerifyRemote(ctx, req)
	if err == nil {
		err = found.origins(req, origins)
	}
	if err != nil {
		return statusError{}, err
	}
	if out.json {
		if err := out.writeJSON(jsonOrigins(origins)); err != nil {
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
		case o.Err != nil:
			failed.error, failed.status = cmp.Or(failed.error, errUnknown), failed.status|exitUnverifiable
			failed.causes = append(failed.causes, o.Err)
		case !o.OK():
			failed.error, failed.status = cmp.Or(failed.error, errUnknown), failed.status|exitUnverifiable
		}
	}
	return failed, nil
}

// move is a moved origin, which several calls can have in common.
type move struct{ pkg, ref, locked, now string }

// origins prints each origin that has moved once, with the calls that use it.
func (o *output) origins(origins []cotter.Origin) {
	var order []move
	users := map[move][]string{}
	same := 0
	for _, origin := range origins {
		switch {
		case origin.Err != nil:
			for _, m := range messages(origin.Err) {
				o.printf("- %s\n", o.explained(m).line())
			}
		case origin.Moved():
			m := move{origin.Package, origin.Ref, origin.Locked, origin.Now}
			if users[m] == nil {
				order = append(order, m)
			}
			rng := origin.Call.Range
			users[m] = append(users[m], fmt.Sprintf("%s (%s:%d)", origin.Path, rng.Filename, rng.Start.Line))
		case origin.OK():
			same++
		}
	}
	for _, m := range order {
		what := m.ref + " moved"
		if m.ref == "" {
			what = "content changed"
		}
		o.printf("- %s: %s %s -> %s, used by %s\n", m.pkg, what, short(m.locked), short(m.now), strings.Join(users[m], ", "))
	}
	o.notef("%d of %s still have the locked content.\n", same, count(len(origins), "origin"))
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
	Error   string `json:"error,omitempty"`
}

func jsonOrigins(origins []cotter.Origin) record {
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
		}
		if o.Err != nil {
			j.Error = o.Err.Error()
		}
		list = append(list, j)
	}
	return originsRecord{list}
}
