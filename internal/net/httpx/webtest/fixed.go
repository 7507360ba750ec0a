package webtest

import (
	"io"
	"net/http"
	"strings"
)

// Fixed returns a client without a network that gets the same answer to every request.
func Fixed(header http.Header, body string) *http.Client {
	return &http.Client{Transport: fixed{header, body}}
}

type fixed struct {
	header http.Header
	body   string
}

func (f fixed) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, ProtoMajor: 1, ProtoMinor: 1, Request: req, Header: f.header.Clone(),
		Body: io.NopCloser(strings.NewReader(f.body)), ContentLength: int64(len(f.body)),
	}, nil
}
