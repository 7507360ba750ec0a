package modtest

import (
	"bytes"
	"io/fs"
	"net/http"
	"time"
)

// mountFiles serves the directory files/ of the tree without changes except for the placeholder.
// Directories have no listing.
func mountFiles(mux *http.ServeMux, fsys fs.FS, host string) {
	mux.HandleFunc("GET /files/{path...}", func(w http.ResponseWriter, r *http.Request) {
		files, err := subtree(fsys, "files")
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		name := r.PathValue("path")
		data, err := fs.ReadFile(files, name)
		if err != nil {
			http.NotFound(w, r)
			return
		}
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(expand(data, host)))
	})
}
