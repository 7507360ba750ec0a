package modtest

import (
	"bytes"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"
)

// The name suffixes that distinguish archives from directories.
const (
	tarGz  = ".tar.gz"
	dotZip = ".zip"
)

// archiveServer packs archives when they are requested.
type archiveServer struct {
	host           string
	user, password string

	mu    sync.Mutex
	trees map[string]fs.FS // by the archive's name
}

func isArchive(name string) bool {
	return strings.HasSuffix(name, tarGz) || strings.HasSuffix(name, dotZip)
}

func newArchiveServer(fsys fs.FS, opts Options, host string) (*archiveServer, error) {
	s := &archiveServer{host: host, user: opts.ArchiveUser, password: opts.ArchivePassword, trees: map[string]fs.FS{}}
	names, err := roots(fsys, "archives", isArchive)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if s.trees[name], err = subtree(fsys, path.Join("archives", name)); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *archiveServer) publish(name string, files fs.FS) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trees[name] = files
}

func (s *archiveServer) mount(mux *http.ServeMux) {
	mux.HandleFunc("GET /archives/{name...}", func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); s.user != "" && (user != s.user || password != s.password) {
			w.Header().Set("WWW-Authenticate", "Basic")
			http.Error(w, "a password is needed", http.StatusUnauthorized)
			return
		}
		s.mu.Lock()
		files, ok := s.trees[r.PathValue("name")]
		s.mu.Unlock()
		if !ok {
			http.NotFound(w, r)
			return
		}
		s.serve(w, r, files)
	})
}

// serve packs the kind of archive of the request's path.
func (s *archiveServer) serve(w http.ResponseWriter, r *http.Request, fsys fs.FS) {
	files, err := readFiles(fsys, s.host)
	pack, kind := packTarGz, "application/gzip"
	if strings.HasSuffix(r.URL.Path, dotZip) {
		pack, kind = packZip, "application/zip"
	}
	var data []byte
	if err == nil {
		data, err = pack(files)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", kind)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}
