package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"maps"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cotterpin/cotter/modtest"
)

// faultyFront is a proxy in front of a world's servers. While its fault is on, requests or
// connections are answered with it.
type faultyFront struct {
	host  string
	proxy *httputil.ReverseProxy
	good  *tls.Certificate

	mu    sync.Mutex
	fault *netFault // nil when it is off
	met   map[string]int
}

func newFaultyFront(t *testing.T, world *modtest.World, good *tls.Certificate, fault *netFault) *faultyFront {
	t.Helper()
	target, err := url.Parse(world.URL())
	if err != nil {
		t.Fatal(err)
	}
	f := &faultyFront{good: good, fault: fault, met: make(map[string]int)}
	f.proxy = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host // the OCI registry makes the address of its tokens from it
		},
		Transport: world.HTTPClient().Transport,
	}
	server := httptest.NewUnstartedServer(f)
	server.Config.ErrorLog = discardLog
	server.Listener = &faultyListener{server.Listener, f}
	server.TLS = &tls.Config{Certificates: []tls.Certificate{*good}, GetConfigForClient: f.configure, MinVersion: tls.VersionTLS12}
	server.StartTLS()
	t.Cleanup(server.Close)
	f.host = server.Listener.Addr().String()
	return f
}

func (f *faultyFront) turnOff() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault = nil
}

// meets returns the fault for a request, or for a connection if path is "", and counts it.
// It returns nil if there is no fault.
func (f *faultyFront) meets(path string) *netFault {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fault == nil || (path == "") != (f.fault.at == "") || !strings.Contains(path, f.fault.at) {
		return nil
	}
	if f.met[path]++; f.fault.times > 0 && f.met[path] > f.fault.times {
		return nil
	}
	return f.fault
}

// most returns the highest number of requests for the same path that matched the fault.
func (f *faultyFront) most() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Max(append(slices.Collect(maps.Values(f.met)), 0))
}

func (f *faultyFront) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if fault := f.meets(r.URL.Path); fault != nil {
		fault.answer(w, r, f.proxy)
		return
	}
	f.proxy.ServeHTTP(w, r)
}

func (f *faultyFront) configure(*tls.ClientHelloInfo) (*tls.Config, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	certificate := f.good
	if f.fault != nil && f.fault.certificate != nil {
		certificate = f.fault.certificate
	}
	return &tls.Config{Certificates: []tls.Certificate{*certificate}, MinVersion: tls.VersionTLS12}, nil
}

type faultyListener struct {
	net.Listener
	front *faultyFront
}

func (l *faultyListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		fault := l.front.meets("")
		if fault == nil || fault.connection == nil {
			return conn, nil
		}
		go fault.connection(conn)
	}
}

// answering replaces or changes an answer.
type answering func(w http.ResponseWriter, r *http.Request, next http.Handler)

// answers returns an answer with a status, a body and headers of the form "Name: value".
func answers(status int, body string, headers ...string) answering {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		for _, header := range headers {
			name, value, _ := strings.Cut(header, ": ")
			w.Header().Set(name, strings.ReplaceAll(value, "HOST", r.Host))
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body)) // ignore clients that went away
	}
}

// redirects answers with a redirect to a location, in which HOST stands for this server.
func redirects(to string) answering {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		answers(http.StatusFound, "", "Location: "+strings.ReplaceAll(to, "PATH", r.URL.Path))(w, r, next)
	}
}

func jsonText(body string) answering {
	return answers(http.StatusOK, body, "Content-Type: application/json")
}

// cut answers with the first part of the true body, as if it were the whole body.
func cut(percent int) answering {
	return altered(func(body []byte) []byte { return body[:len(body)*percent/100] })
}

func altered(change func([]byte) []byte) answering {
	return truly(func(w http.ResponseWriter, record *httptest.ResponseRecorder) {
		body := change(record.Body.Bytes())
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write(body) // ignore clients that went away
	})
}

func typed(contentType string) answering {
	return truly(func(w http.ResponseWriter, record *httptest.ResponseRecorder) {
		w.Header().Set("Content-Type", contentType)
		_, _ = w.Write(record.Body.Bytes())
	})
}

// truly gets the true answer, and lets write send it if it is a success. Other answers, such
// as demands for credentials, are passed on unchanged.
func truly(write func(http.ResponseWriter, *httptest.ResponseRecorder)) answering {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		record := httptest.NewRecorder()
		next.ServeHTTP(record, r)
		maps.Copy(w.Header(), record.Header())
		if record.Code != http.StatusOK {
			w.WriteHeader(record.Code)
			_, _ = w.Write(record.Body.Bytes())
			return
		}
		write(w, record)
	}
}

// announces sends the true body with a Content-Length that differs by the given number of
// bytes, and closes the connection.
func announces(more int) answering {
	return raw(func(body []byte) (int, []byte) { return len(body) + more, body }, false)
}

// resetsAfter resets the connection after the headers and a part of the body.
func resetsAfter(percent int) answering {
	return raw(func(body []byte) (int, []byte) { return len(body), body[:len(body)*percent/100] }, true)
}

// claims announces a length and sends only 1024 zero bytes.
func claims(length int) answering {
	return raw(func([]byte) (int, []byte) { return length, make([]byte, 1024) }, false)
}

// raw sends the headers of the true answer, except for the length, and a changed body. Then
// it closes or resets the connection.
func raw(change func([]byte) (length int, body []byte), reset bool) answering {
	return truly(func(w http.ResponseWriter, record *httptest.ResponseRecorder) {
		length, body := change(record.Body.Bytes())
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		text := bytes.NewBufferString("HTTP/1.1 200 OK\r\n")
		record.Header().Set("Content-Length", strconv.Itoa(length))
		_ = record.Header().Write(text) // a write to a buffer does not fail
		text.WriteString("\r\n")
		text.Write(body)
		_, _ = conn.Write(text.Bytes())
		if secure, ok := conn.(*tls.Conn); ok && reset {
			resetConnection(secure.NetConn())
			return
		}
		_ = conn.Close()
	})
}

func resetConnection(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// resetHandshake resets a connection after the client has begun its handshake.
func resetHandshake(conn net.Conn) {
	_, _ = conn.Read(make([]byte, 1))
	resetConnection(conn)
}

// closeHandshake reads the client's hello and closes the connection normally.
func closeHandshake(conn net.Conn) {
	_, _ = conn.Read(make([]byte, 16<<10))
	_ = conn.Close()
}

func certificateFor(t *testing.T, ip string, expires time.Time, names ...string) *tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "netfaults " + ip + expires.String()},
		NotBefore: expires.AddDate(0, -1, 0), NotAfter: expires,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, IsCA: true, BasicConstraintsValid: true,
		IPAddresses: []net.IP{net.ParseIP(ip)}, DNSNames: names,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func asPEM(certificate []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})
}
