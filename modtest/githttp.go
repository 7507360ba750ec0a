package modtest

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"log"
	"net/http"
	"net/http/cgi"
	"strings"

	"github.com/cotterpin/cotter/internal/git/gittest"
)

// maxGitRequest is in bytes. Wanted and present commits take about 50 each.
const maxGitRequest = 16 << 20

func (g *gitServer) mount(mux *http.ServeMux) {
	mux.HandleFunc("/git/{path...}", func(w http.ResponseWriter, req *http.Request) {
		git, err := g.ready(repoOf(req.PathValue("path")))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			http.NotFound(w, req)
		case err != nil:
			http.Error(w, err.Error(), http.StatusInternalServerError)
		default:
			g.serve(git, w, req)
		}
	})
}

// ready creates the repository if necessary, and returns the path of git.
func (g *gitServer) ready(repo string) (git string, err error) {
	err = g.with(repo, func(r *repository, program string) error {
		git = program
		return r.ensure()
	})
	return git, err
}

// repoOf returns the path up to the first repository, or "".
func repoOf(path string) string {
	end := 0
	for element := range strings.SplitSeq(path, "/") {
		end += len(element)
		if isRepo(element) {
			return path[:end]
		}
		end++ // the slash
	}
	return ""
}

// isWholeRoot reports whether the last element satisfies isRoot and no earlier one.
func isWholeRoot(path string, isRoot func(string) bool) bool {
	elements := strings.Split(path, "/")
	for i, element := range elements {
		if isRoot(element) {
			return fs.ValidPath(path) && i == len(elements)-1
		}
	}
	return false
}

func (g *gitServer) serve(git string, w http.ResponseWriter, req *http.Request) {
	if user, password, _ := req.BasicAuth(); g.opts.GitUser != "" && (user != g.opts.GitUser || password != g.opts.GitPassword) {
		w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
		http.Error(w, "a password is needed", http.StatusUnauthorized)
		return
	}
	if g.opts.RefuseCommits {
		// Protocol version 2 does not check wanted commits against the refs.
		req.Header.Del("Git-Protocol")
	}
	if err := settleBody(w, req); err != nil {
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	h := &gittest.Handler{Git: git, Root: g.dir, Env: gitEnv(g.dir), Backend: g.backend(git, req.Header.Get("Git-Protocol"))}
	h.Serve(w, req, req.PathValue("path"))
}

func (g *gitServer) backend(git, protocol string) http.Handler {
	env := append(gitEnv(g.dir), "GIT_PROJECT_ROOT="+g.dir, "GIT_HTTP_EXPORT_ALL=1")
	if protocol != "" {
		env = append(env, "GIT_PROTOCOL="+protocol)
	}
	return &cgi.Handler{
		Path: git,
		Args: []string{"http-backend"},
		Root: "/git",
		Dir:  g.dir,
		Env:  env,
		// These would only repeat what the client sees.
		Stderr: io.Discard,
		Logger: log.New(io.Discard, "", 0),
	}
}

// settleBody reads a body of unknown length, which CGI does not support.
func settleBody(w http.ResponseWriter, req *http.Request) error {
	if req.ContentLength >= 0 {
		return nil
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxGitRequest))
	if err != nil {
		return err
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	req.ContentLength, req.TransferEncoding = int64(len(body)), nil
	return nil
}
