package modtest

import (
	"bytes"
	"net/http"
	"time"

	"github.com/cotterpin/cotter/addrs"
)

const (
	providersPath = "/v1/providers/"
	// providerFiles has what the registry points to.
	providerFiles  = "/providers/"
	providerMirror = "/mirror/"
)

func (r *providerRegistry) mount(mux *http.ServeMux) {
	const name = "{namespace}/{type}/"
	mux.HandleFunc("GET "+providersPath+name+"versions", r.modules.guard(r.serveVersions))
	mux.HandleFunc("GET "+providersPath+name+"{version}/download/{os}/{arch}", r.modules.guard(r.servePackage))
	mux.HandleFunc("GET "+providerFiles+name+"{version}/{file}", r.serveFile)
	mux.HandleFunc("GET "+providerMirror+"{host}/"+name+"{file}", r.serveMirror)
}

func requestedProvider(req *http.Request) string {
	return req.PathValue("namespace") + "/" + req.PathValue("type")
}

func (r *providerRegistry) serveVersions(w http.ResponseWriter, req *http.Request) {
	name := requestedProvider(req)
	_, releases, ok := r.releases.list(name)
	if !ok {
		http.NotFound(w, req)
		return
	}
	list := []any{} // a provider without versions has an empty list, not null
	for _, release := range releases {
		platforms := []map[string]string{}
		for _, p := range release.packages {
			platforms = append(platforms, map[string]string{"os": p.platform.OS, "arch": p.platform.Arch})
		}
		list = append(list, map[string]any{"version": release.version, "protocols": providerProtocols, "platforms": platforms})
	}
	writeJSON(w, map[string]any{"id": name, "versions": list, "warnings": r.opts.ProviderWarnings})
}

func (r *providerRegistry) servePackage(w http.ResponseWriter, req *http.Request) {
	release, ok := r.releases.get(requestedProvider(req), req.PathValue("version"))
	if !ok {
		http.NotFound(w, req)
		return
	}
	pkg, ok := release.find("", addrs.Platform{OS: req.PathValue("os"), Arch: req.PathValue("arch")})
	if !ok {
		http.NotFound(w, req)
		return
	}
	body, err := release.answer(pkg, r.opts)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	writeJSON(w, body)
}

func (r *providerRegistry) serveFile(w http.ResponseWriter, req *http.Request) {
	release, ok := r.releases.get(requestedProvider(req), req.PathValue("version"))
	if !ok {
		http.NotFound(w, req)
		return
	}
	file := req.PathValue("file")
	switch file {
	case release.sumsName():
		_, _ = w.Write(release.sums()) // a client that has disconnected needs no answer
		return
	case release.sumsName() + ".sig":
		signature, err := release.signature()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(signature)
		return
	}
	pkg, ok := release.find(file, addrs.Platform{})
	if !ok {
		http.NotFound(w, req)
		return
	}
	serveProviderArchive(w, req, pkg, release.served(pkg))
}

func serveProviderArchive(w http.ResponseWriter, req *http.Request, pkg providerPackage, archive []byte) {
	w.Header().Set("Content-Type", "application/zip")
	w.Header().Set("ETag", `"`+pkg.sum[:16]+`"`)
	http.ServeContent(w, req, "", time.Time{}, bytes.NewReader(archive))
}
