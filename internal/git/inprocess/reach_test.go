package inprocess_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/git/inprocess"
)

// TestAcknowledgements reads all forms of the answer to the objects that the client has.
func TestAcknowledgements(t *testing.T) {
	t.Parallel()
	pack := string(makePack(t, -1, packObject{kind: typeBlob, content: "x"}))
	ack := func(suffix string) string { return line("ACK " + someID + suffix + "\n") }
	for name, tt := range map[string]struct {
		answer string
		bad    bool
	}{
		"none":                   {line("NAK\n"), false},
		"without a line end":     {line("NAK"), false},
		"single":                 {ack(""), false},
		"multi_ack":              {ack(" continue") + ack(""), false},
		"multi_ack_detailed":     {ack(" common") + ack(" ready") + ack(""), false},
		"twice":                  {ack("") + ack(""), false},
		"nothing":                {"", true},
		"flush":                  {"0000", true},
		"something else":         {line("NO\n"), true},
		"error":                  {line("ERR upload-pack: not our ref"), true},
		"cut":                    {ack("")[:20], true},
		"too many":               {strings.Repeat(ack(" common"), 100), true},
		"an escape sequence":     {line("\x1b[2J\n"), true},
		"acknowledges no object": {line("ACKNOWLEDGED\n"), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer := tt.answer
			if !tt.bad {
				answer += pack
			}
			r := &inprocess.Remote{
				Transport: fakeServer{someRefs(), []byte(answer)}, Dir: t.TempDir(),
				Limits: inprocess.Limits{PackBytes: 1 << 20, ObjectBytes: 1 << 20},
			}
			if _, err := r.List(t.Context()); err != nil {
				t.Fatal(err)
			}
			objects, err := r.Fetch(t.Context(), inprocess.Want{IDs: []string{someID}, Have: []string{someID}, History: true})
			if (err != nil) != tt.bad || err != nil && strings.ContainsAny(err.Error(), "\x1b\n") {
				t.Fatalf("Fetch = %v, want an error: %v", err, tt.bad)
			}
			if err == nil {
				if _, obj := find(t, objects, blobID("x")); obj == nil {
					t.Error("the pack has no blob")
				}
				if err := objects.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// recorder records the requests to a server.
type recorder struct {
	fakeServer
	requests []string
	refuse   bool // refuse filters
}

func (r *recorder) Ask(ctx context.Context, request []byte, read func(io.Reader) error) error {
	r.requests = append(r.requests, string(request))
	if r.refuse && strings.Contains(string(request), "filter tree:0") {
		return read(strings.NewReader(line("ERR filter 'tree' not supported")))
	}
	return r.fakeServer.Ask(ctx, request, read)
}

// TestHistoryRequest checks what a search sends, also to a server that refuses the filter.
func TestHistoryRequest(t *testing.T) {
	t.Parallel()
	wanted := strings.Repeat("2", 40)
	answer := line("ACK "+wanted+"\n") + string(makePack(t, -1, packObject{kind: typeBlob, content: "x"}))
	refs := line(someID+" HEAD\x00ofs-delta filter agent=x") + line(someID+" refs/heads/main\n") + "0000"
	for _, refuse := range []bool{false, true} {
		server := &recorder{fakeServer{[]byte(refs), []byte(answer)}, nil, refuse}
		r := &inprocess.Repository{Source: &inprocess.Remote{
			Transport: server, Dir: t.TempDir(), Limits: inprocess.Limits{PackBytes: 1 << 20, ObjectBytes: 1 << 20},
		}}
		found, err := r.Reachable(t.Context(), []git.Want{{ID: wanted, Ref: "main"}}, git.HistoryLimits{Commits: 10, Bytes: 1 << 20})
		if err != nil || !errors.Is(found[wanted].Err, git.ErrIncompleteHistory) {
			t.Errorf("Reachable = %+v, %v; want ErrIncompleteHistory", found, err)
		}
		first := server.requests[0]
		want := fmt.Sprintf("want %s", someID)
		if !strings.Contains(first, want) || !strings.Contains(first, "filter tree:0") || !strings.Contains(first, "have "+wanted) || strings.Contains(first, "deepen") {
			t.Errorf("request %q", first)
		}
		if requests, wantRequests := len(server.requests), map[bool]int{false: 2, true: 4}[refuse]; requests != wantRequests {
			t.Errorf("%d requests, want %d", requests, wantRequests)
		}
	}
}
