package webtest

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"sync"
)

// Proxy starts a proxy for programs that resolve names themselves, and returns its URL.
func (w *Web) Proxy() string {
	w.t.Helper()
	forward := &httputil.ReverseProxy{
		Rewrite:   func(*httputil.ProxyRequest) {},
		Transport: w.transport,
		ErrorLog:  log.New(io.Discard, "", 0),
	}
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodConnect {
			w.tunnel(rw, r)
			return
		}
		forward.ServeHTTP(rw, r)
	}))
	w.t.Cleanup(s.Close)
	at := s.Listener.Addr().String()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.servers[at] = at // clients with this network may use the proxy, too
	return s.URL
}

func (w *Web) tunnel(rw http.ResponseWriter, r *http.Request) {
	server, err := w.dial(r.Context(), "tcp", r.Host)
	if err != nil {
		http.Error(rw, "no such server", http.StatusBadGateway)
		return
	}
	defer func() { _ = server.Close() }()
	rw.WriteHeader(http.StatusOK)
	client, buffered, err := http.NewResponseController(rw).Hijack()
	if err != nil {
		return
	}
	defer func() { _ = client.Close() }()
	var both sync.WaitGroup
	both.Go(func() {
		// Either side may disconnect at any time.
		_, _ = io.Copy(server, buffered)
		_ = server.Close()
	})
	_, _ = io.Copy(client, server)
	_ = client.Close()
	both.Wait()
}
