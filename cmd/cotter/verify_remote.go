package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/evidence"
)

// verifyRemote compares the lock with the origins, and prints the result. The returned
// statusError has the status 0 if all origins have the locked content.
func verifyRemote(ctx context.Context, in *cotter.Installer, out *output, req cotter.Request, found *findings) (statusError, error) {
	origins, err := in.VerifyRemote(ctx, req)
	if err != nil {
		return statusError{}, err
	}
	providers, err := in.VerifyRemoteProviders(ctx, req)
	if err == nil {
		err = errors.Join(found.origins(req, origins), found.originsOfProviders(req, providers))
	}
	if err != nil {
		return statusError{}, err
	}
	if out.json {
		if err := out.writeJSON(originsRecord{jsonOrigins(origins), jsonOriginProviders(providers)}); err != nil {
			return statusError{}, err
		}
	} else {
		out.origins(origins, providers)
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
	for _, o := range providers {
		switch {
		case o.Moved():
			failed.error, failed.status = errMoved, failed.status|exitStale
		case o.Err != nil:
			failed.error, failed.status = cmp.Or(failed.error, errUnknown), failed.status|exitUnverifiable
			failed.causes = append(failed.causes, o.Err)
		}
	}
	return failed, nil
}

// move is a moved origin, which several calls can have in common.
type move struct{ pkg, ref, locked, now string }

// origins prints each origin of modules that has moved once, with the calls that use it, and each
// provider whose lock entry has hashes that its registry does not confirm.
func (o *output) origins(origins []cotter.Origin, providers []cotter.OriginProvider) {
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
	for _, p := range providers {
		switch {
		case p.Err != nil:
			for _, m := range messages(p.Err) {
				o.printf("- %s\n", o.explained(m).line())
			}
		case p.Moved():
			o.printf("- provider %s %s: %s\n", p.Provider.ForDisplay(), p.Version, originProviderText(p))
		default:
			same++
		}
	}
	o.notef("%d of %s still have the locked content.\n", same, count(len(origins)+len(providers), "origin"))
}

// originProviderText describes the hashes of a lock entry that the provider's source does not
// confirm.
func originProviderText(p cotter.OriginProvider) string {
	what := "the lock has a hash that %s does not confirm: %s"
	if len(p.Unknown) > 1 {
		what = "the lock has hashes that %s does not confirm: %s"
	}
	who := "its registry"
	if p.Evidence.Kind == evidence.Mirror {
		who = p.Evidence.By
	}
	var hashes []string
	for _, h := range p.Unknown {
		hashes = append(hashes, string(h))
	}
	return fmt.Sprintf(what, who, strings.Join(hashes, ", "))
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

// jsonOriginProvider is the source of a locked provider in the output of verify --remote.
type jsonOriginProvider struct {
	Provider string `json:"provider"`
	Version  string `json:"version"`
	Location string `json:"location,omitempty"` // Where the source has the package for this platform.
	Evidence string `json:"evidence,omitempty"` // Who has confirmed the release now: "origin", "signature" or "mirror".
	// Unknown are the hashes in the lock that belong to no package of the release.
	Unknown []string `json:"unknown,omitempty"`
	Moved   bool     `json:"moved"`
	Error   string   `json:"error,omitempty"`
}

func jsonOriginProviders(origins []cotter.OriginProvider) []jsonOriginProvider {
	var list []jsonOriginProvider
	for _, o := range origins {
		j := jsonOriginProvider{Provider: o.Provider.String(), Version: o.Version, Location: o.Location, Evidence: evidenceName(o.Evidence), Moved: o.Moved()}
		for _, h := range o.Unknown {
			j.Unknown = append(j.Unknown, string(h))
		}
		if o.Err != nil {
			j.Error = o.Err.Error()
		}
		list = append(list, j)
	}
	return list
}

func jsonOrigins(origins []cotter.Origin) []jsonOrigin {
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
	return list
}
