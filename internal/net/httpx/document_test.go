package httpx_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cotterpin/cotter/internal/disk/packagelimits"
	"github.com/cotterpin/cotter/internal/net/httpx"
	"github.com/cotterpin/cotter/internal/testenv"
)

var errOfReader = errors.New("it has no versions")

// TestDocuments asks servers that accept only the token "new". A document is read from the last answer, also from one without
// success.
func TestDocuments(t *testing.T) {
	t.Parallel()
	noRequest := errors.New("no credentials can be read")
	for name, test := range map[string]struct {
		tokens string // of the first request and of the second one
		script []step // of answers to requests with the token
		want   string
	}{
		"accepted":                       {"new old", []step{{status: 200, body: strings.NewReader("text")}}, `1 request, 200 "text": <nil>`},
		"renewed":                        {"old new", []step{{status: 200, body: strings.NewReader("text")}}, `2 requests, 200 "text": <nil>`},
		"refused again":                  {"old older", nil, `2 requests, 401 "": it has no versions`},
		"not renewed":                    {"old old", nil, `1 request, 401 "": it has no versions`},
		"unreadable after the first one": {"old !", nil, "1 request, no answer: no credentials can be read"},
		"missing":                        {"new old", []step{{status: 404, body: strings.NewReader("none")}}, `1 request, 404 "none": it has no versions`},
		"missing after a part of a large one": {
			"new old", []step{{status: 200, body: part(100 << 10)}, {status: 404, body: strings.NewReader("none")}}, `2 requests, 404 "none": it has no versions`,
		},
		"complete after a part of a large one": {
			"new old", []step{{status: 200, body: part(100 << 10)}, {status: 200, body: strings.NewReader("text")}}, `2 requests, 200 "text": <nil>`,
		},
		"too large": {"new old", []step{{status: 200, body: strings.NewReader(strings.Repeat("x", 200<<10))}}, "1 request, no answer: the answer is larger than the limit of 153600 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requests, answers := 0, &script{steps: test.script}
			tokens := strings.Fields(test.tokens)
			client := &httpx.Client{Retry: httpx.Retry{FirstWait: time.Nanosecond}, HTTP: &http.Client{Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
				if requests++; req.Header.Get("Authorization") != "new" {
					return &http.Response{StatusCode: http.StatusUnauthorized, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
				}
				return answers.RoundTrip(req)
			})}}
			body := ""
			value, answer, err := httpx.Document[string]{
				Login: httpx.Login{
					Request: func() (*http.Request, error) {
						if tokens[0] == "!" {
							return nil, noRequest
						}
						req := get(t, "https://example.com/")
						req.Header.Set("Authorization", tokens[0])
						return req, nil
					},
					Renewed: func(refused *http.Request) bool {
						tokens = tokens[1:]
						return refused.Header.Get("Authorization") != tokens[0]
					},
				},
				Limit: 150 << 10,
				Read: func(answer *httpx.Answer) (string, error) {
					body = string(answer.Body)
					if answer.StatusCode != http.StatusOK {
						return "", errOfReader
					}
					return body, nil
				},
			}.Get(client)
			got := fmt.Sprintf("%d requests, no answer: %v", requests, err)
			if answer != nil {
				got = fmt.Sprintf("%d requests, %d %q: %v", requests, answer.StatusCode, body, err)
			}
			if got = strings.Replace(got, "1 requests", "1 request", 1); got != test.want {
				t.Errorf("Get: %s; want %s", got, test.want)
			}
			if err == nil && value != body {
				t.Errorf("the value is %q, want %q", value, body)
			}
		})
	}
}

// part is a body with a lost connection in it.
func part(bytes int) io.Reader {
	return io.MultiReader(strings.NewReader(strings.Repeat("x", bytes)), failing{io.ErrUnexpectedEOF})
}

// A run keeps the values of all documents, and so what they list counts together.
func TestListedValues(t *testing.T) {
	t.Parallel()
	testenv.LastExceedsRun(t, 2, func(ctx context.Context, i int) error {
		n := []int{packagelimits.RunVersions, 1}[i]
		value, _, err := httpx.Document[int]{
			Login:  httpx.Login{Request: func() (*http.Request, error) { return get(t, "https://example.com/").WithContext(ctx), nil }},
			Limit:  100,
			Read:   func(*httpx.Answer) (int, error) { return n, nil },
			Listed: func(n int) int { return n },
		}.Get(&httpx.Client{HTTP: &http.Client{Transport: &script{steps: []step{{status: 200}}}}})
		if err != nil && value != 0 {
			t.Errorf("one more = %d beside the error %v", value, err)
		}
		return err
	})
}
