package modtest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// ociTokenPath is on the registry's host, by the name that the client uses for it.
const ociTokenPath = "/oci/token"

func (s *ociServer) mount(mux *http.ServeMux) {
	mux.HandleFunc("/v2/", s.serve)
	mux.HandleFunc("GET "+ociTokenPath, s.serveToken)
	mux.HandleFunc("POST "+ociTokenPath, s.serveToken)
}

func (s *ociServer) serve(w http.ResponseWriter, r *http.Request) {
	if !s.authorized(r) {
		s.challenge(w, r)
		return
	}
	s.mu.Lock()
	lie, lying := s.lies[r.URL.Path]
	s.mu.Unlock()
	if lying {
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("Content-Length", strconv.Itoa(len(lie)))
		_, _ = w.Write(lie) // a client that has disconnected needs no answer
		return
	}
	if strings.HasSuffix(r.URL.Path, "/tags/list") {
		r = s.paged(r)
	}
	s.server.ServeHTTP(w, r)
}

func (s *ociServer) paged(r *http.Request) *http.Request {
	query := r.URL.Query()
	wanted, err := strconv.Atoi(query.Get("n"))
	switch {
	case s.opts.OCIOnePage:
		query.Del("n")
		query.Del("last")
	case s.opts.OCIPageSize > 0 && (err != nil || wanted > s.opts.OCIPageSize):
		query.Set("n", strconv.Itoa(s.opts.OCIPageSize))
	}
	r = r.Clone(r.Context())
	r.URL.RawQuery = query.Encode()
	return r
}

// ociScope returns the scope of a token for a request. One for pushes is also valid for pulls.
func ociScope(r *http.Request) string {
	rest := strings.TrimPrefix(r.URL.Path, "/v2/")
	actions := ":pull"
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		actions = ":pull,push"
	}
	for _, part := range []string{"/manifests/", "/blobs/", "/tags/"} {
		if i := strings.LastIndex(rest, part); i > 0 {
			return "repository:" + rest[:i] + actions
		}
	}
	return ""
}

func (s *ociServer) authorized(r *http.Request) bool {
	if !s.opts.OCIBearer {
		return s.opts.OCIUser == "" || s.knows(r.BasicAuth())
	}
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	s.mu.Lock()
	defer s.mu.Unlock()
	scope, known := s.tokens[token]
	wanted := ociScope(r)
	return ok && known && (scope == wanted || scope == strings.TrimSuffix(wanted, ":pull")+":pull,push")
}

func (s *ociServer) knows(user, password string, ok bool) bool {
	return ok && user == s.opts.OCIUser && password == s.opts.OCIPassword
}

func (s *ociServer) challenge(w http.ResponseWriter, r *http.Request) {
	how := `Basic realm="modtest"`
	if s.opts.OCIBearer {
		how = fmt.Sprintf(`Bearer realm="https://%s%s",service="modtest",scope="%s"`, r.Host, ociTokenPath, ociScope(r))
	}
	w.Header().Set("WWW-Authenticate", how)
	ociDenied(w)
}

func ociDenied(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusUnauthorized)
	writeJSON(w, map[string]any{"errors": []map[string]string{{"code": "UNAUTHORIZED", "message": "authentication required"}}})
}

// serveToken accepts a GET with basic authentication, and a POST with a password or a refresh token (OAuth
// 2).
func (s *ociServer) serveToken(w http.ResponseWriter, r *http.Request) {
	known := s.opts.OCIUser == "" || s.knows(r.BasicAuth())
	if r.Method == http.MethodPost {
		switch r.FormValue("grant_type") {
		case "refresh_token":
			known = r.PostFormValue("refresh_token") == s.opts.OCIPassword
		case "password":
			known = s.knows(r.PostFormValue("username"), r.PostFormValue("password"), true)
		}
	}
	if !known || !s.opts.OCIBearer {
		ociDenied(w)
		return
	}
	s.mu.Lock()
	token := fmt.Sprintf("modtest-token-%d", len(s.tokens)+1)
	s.tokens[token] = r.FormValue("scope")
	s.mu.Unlock()
	writeJSON(w, map[string]string{"token": token, "access_token": token})
}
