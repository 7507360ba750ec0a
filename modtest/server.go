package modtest

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"time"
)

// headerTimeout ends connections whose headers are never complete.
const headerTimeout = 30 * time.Second

// listen opens both listeners, which determine the host.
func (w *World) listen() (secure, plain net.Listener, err error) {
	if secure, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, nil, err
	}
	if plain, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, nil, errors.Join(err, secure.Close())
	}
	w.host = secure.Addr().String()
	w.plainURL = "http://" + plain.Addr().String()
	return countingListener{secure, &w.sent}, countingListener{plain, &w.sent}, nil
}

func (w *World) serve(secure, plain net.Listener) {
	ctx, cancel := context.WithCancel(context.Background())
	w.stop = cancel
	config := &tls.Config{Certificates: []tls.Certificate{w.authority.server}, MinVersion: tls.VersionTLS12}
	handler := w.handler()
	for _, l := range []net.Listener{tls.NewListener(secure, config), plain} {
		s := &http.Server{
			Handler:           handler,
			BaseContext:       func(net.Listener) context.Context { return ctx },
			ReadHeaderTimeout: headerTimeout,
			// Tests have clients that do not trust the certificate.
			ErrorLog: log.New(io.Discard, "", 0),
		}
		w.servers = append(w.servers, s)
		// Serve returns only after Close.
		go func() { _ = s.Serve(l) }()
	}
}

// handler also records requests and applies faults.
func (w *World) handler() http.Handler {
	mux := http.NewServeMux()
	w.registry.mount(mux)
	w.providers.mount(mux)
	w.git.mount(mux)
	w.archives.mount(mux)
	w.oci.mount(mux)
	mountFiles(mux, w.fsys, w.host)
	parts := w.faults.wrap(mux)
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.serving.RLock()
		defer w.serving.RUnlock()
		if w.closed {
			panic(http.ErrAbortHandler)
		}
		w.log.add(r)
		parts.ServeHTTP(rw, r)
	})
}
