package gittest

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Handler serves the repositories below a directory.
type Handler struct {
	Git  string   // the path of the program
	Root string   // the directory
	Env  []string // the whole environment of git

	// Backend answers all but fetches by the smart protocol. Without it, the answer is 404.
	Backend http.Handler
}

// Serve gets a path relative to Root, such as "net.git/info/refs".
func (h *Handler) Serve(w http.ResponseWriter, r *http.Request, name string) {
	if repo, ok := h.repository(name, "/info/refs"); ok && r.Method == http.MethodGet && r.URL.RawQuery == "service=git-upload-pack" {
		h.advertise(w, r, repo)
	} else if repo, ok := h.repository(name, "/git-upload-pack"); ok && isFetch(r) {
		h.fetch(w, r, repo)
	} else if h.Backend != nil {
		h.Backend.ServeHTTP(w, r)
	} else {
		http.NotFound(w, r)
	}
}

func (h *Handler) repository(name, suffix string) (dir string, ok bool) {
	name, ok = strings.CutSuffix(name, suffix)
	if !ok || !filepath.IsLocal(filepath.FromSlash(name)) {
		return "", false
	}
	dir = filepath.Join(h.Root, filepath.FromSlash(name))
	_, headErr := os.Stat(filepath.Join(dir, "HEAD"))
	_, objectsErr := os.Stat(filepath.Join(dir, "objects"))
	return dir, headErr == nil && objectsErr == nil
}

// isFetch is the rule of git http-backend, which needs a length.
func isFetch(r *http.Request) bool {
	encoding := r.Header.Get("Content-Encoding")
	return r.Method == http.MethodPost && r.ContentLength >= 0 && (encoding == "" || encoding == "gzip") &&
		r.Header.Get("Content-Type") == "application/x-git-upload-pack-request"
}

func (h *Handler) advertise(w http.ResponseWriter, r *http.Request, repo string) {
	setHeader(w, "application/x-git-upload-pack-advertisement")
	if slices.Contains(strings.Split(r.Header.Get("Git-Protocol"), ":"), "version=2") {
		h.writeCapabilities(w, r, repo)
		return
	}
	// If the client is gone, writing the answer fails.
	_, _ = io.WriteString(w, "001e# service=git-upload-pack\n0000")
	_ = h.answer(w, r, repo, http.NoBody, advertisement)
}

const advertisement = "--http-backend-info-refs"

// capabilities have no refs, so they are equal for the same configuration.
var capabilities sync.Map

func (h *Handler) writeCapabilities(w http.ResponseWriter, r *http.Request, repo string) {
	key := h.capabilitiesKey(r, repo)
	known, ok := capabilities.Load(key)
	if !ok {
		var out bytes.Buffer
		if h.uploadPack(&out, r, repo, nil, advertisement) == nil {
			capabilities.Store(key, out.Bytes())
		}
		known = out.Bytes()
	}
	_, _ = w.Write(known.([]byte))
}

// capabilitiesKey has everything that determines the advertisement.
func (h *Handler) capabilitiesKey(r *http.Request, repo string) string {
	parts := []string{h.Git, r.Header.Get("Git-Protocol")}
	files := []string{filepath.Join(repo, "config"), filepath.Join(repo, "HEAD")}
	for _, entry := range h.Env {
		switch name, dir, _ := strings.Cut(entry, "="); name {
		case "HOME":
			files = append(files, filepath.Join(dir, ".gitconfig"), filepath.Join(dir, ".config", "git", "config"))
		case "XDG_CONFIG_HOME":
			files = append(files, filepath.Join(dir, "git", "config"))
		case "GIT_PROJECT_ROOT": // is for the backend
		default:
			parts = append(parts, entry)
		}
	}
	for _, name := range files {
		content, err := os.ReadFile(name)
		parts = append(parts, string(content), strconv.FormatBool(err == nil))
	}
	return strings.Join(parts, "\x00")
}

func (h *Handler) fetch(w http.ResponseWriter, r *http.Request, repo string) {
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		unpacked, err := gzip.NewReader(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		body = unpacked
	}
	setHeader(w, "application/x-git-upload-pack-result")
	_ = h.answer(w, r, repo, body) // the client sees the failure
}

// setHeader does as git http-backend.
func setHeader(w http.ResponseWriter, contentType string) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Expires", "Fri, 01 Jan 1980 00:00:00 GMT")
	w.Header().Set("Pragma", "no-cache")
	w.Header().Set("Cache-Control", "no-cache, max-age=0, must-revalidate")
}

// uploadPack ends when the client disconnects.
func (h *Handler) uploadPack(w io.Writer, r *http.Request, repo string, stdin io.Reader, options ...string) error {
	args := append(append([]string{"upload-pack", "--stateless-rpc"}, options...), ".")
	cmd := exec.CommandContext(r.Context(), h.Git, args...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout = repo, slices.Clip(h.Env), stdin, w
	if protocol := r.Header.Get("Git-Protocol"); protocol != "" {
		cmd.Env = append(cmd.Env, "GIT_PROTOCOL="+protocol)
	}
	return cmd.Run()
}
