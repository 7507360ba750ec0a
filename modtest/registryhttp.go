package modtest

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// modulesPath is a relative URL in the discovery document, which is as common as an absolute one.
const modulesPath = "/v1/modules/"

func (r *registry) mount(mux *http.ServeMux) {
	const pkg = modulesPath + "{namespace}/{name}/{system}/"
	mux.HandleFunc("GET /.well-known/terraform.json", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, map[string]string{"modules.v1": modulesPath, "providers.v1": providersPath})
	})
	mux.HandleFunc("GET "+pkg+"versions", r.guard(r.serveVersions))
	mux.HandleFunc("GET "+pkg+"{version}/download", r.guard(r.serveLocation))
	packages := r.servePackage
	if r.opts.Hosted {
		packages = r.guard(packages)
	}
	mux.HandleFunc("GET /packages/{namespace}/{name}/{system}/{file}", packages)
}

// guard passes on requests with the token.
func (r *registry) guard(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		if !r.authorized(req) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "a token is needed", http.StatusUnauthorized)
			return
		}
		h(w, req)
	}
}

func requestedPackage(req *http.Request) string {
	return req.PathValue("namespace") + "/" + req.PathValue("name") + "/" + req.PathValue("system")
}

func (r *registry) serveVersions(w http.ResponseWriter, req *http.Request) {
	type version struct {
		Version    string    `json:"version"`
		Discovered time.Time `json:"discovered,omitzero"`
	}
	type module struct {
		Source   string    `json:"source"`
		Versions []version `json:"versions"`
	}
	pkg := requestedPackage(req)
	names, releases, ok := r.packages.list(pkg)
	if !ok {
		http.NotFound(w, req)
		return
	}
	list := []version{} // a package without versions has an empty list, not null
	for i, name := range names {
		list = append(list, version{name, releases[i].discovered})
	}
	writeJSON(w, map[string][]module{"modules": {{pkg, list}}})
}

func (r *registry) serveLocation(w http.ResponseWriter, req *http.Request) {
	pkg, version := requestedPackage(req), req.PathValue("version")
	if _, ok := r.packages.get(pkg, version); !ok {
		http.NotFound(w, req)
		return
	}
	location, err := r.location(pkg, version)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if r.opts.Hosted {
		writeJSON(w, map[string]any{"location": location, "use_registry_credentials": true})
		return
	}
	w.Header().Set("X-Terraform-Get", location)
	if r.opts.HeaderLocations {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	writeJSON(w, map[string]string{"location": location})
}

func (r *registry) servePackage(w http.ResponseWriter, req *http.Request) {
	version, ok := strings.CutSuffix(req.PathValue("file"), tarGz)
	release, known := r.packages.get(requestedPackage(req), version)
	if !ok || !known || r.opts.gitPackages() {
		http.NotFound(w, req)
		return
	}
	r.archives.serve(w, req, release.files)
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	// Strings can always be encoded.
	_ = json.NewEncoder(w).Encode(v)
}
