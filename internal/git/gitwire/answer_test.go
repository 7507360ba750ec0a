package gitwire_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/git/gitwire"
	"github.com/cotterpin/cotter/internal/net/httpx"
)

var id = strings.Repeat("a", 40)

var errAny = errors.New("any")

func wantError(t *testing.T, what string, err, want error) {
	t.Helper()
	if any := errors.Is(want, errAny); any && err == nil || !any && !errors.Is(err, want) {
		t.Errorf("%s = %v, want %v", what, err, want)
	}
}

func TestReadRefs(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		answer string
		want   error
	}{
		"good":                 {lines(id+" refs/tags/v1 peeled:"+id, id+" HEAD symref-target:refs/heads/main x:y", "0000"), nil},
		"no newline":           {packet(id+" refs/tags/v1") + "0000", nil},
		"no refs":              {"0000", nil},
		"response end":         {"00000002", nil},
		"nothing":              {"", gitwire.ErrOldProtocol},
		"no end":               {lines(id + " refs/tags/v1"), io.ErrUnexpectedEOF},
		"cut in a length":      {"00", io.ErrUnexpectedEOF},
		"cut in a line":        {lines(id+" refs/tags/v1", "0000")[:30], io.ErrUnexpectedEOF},
		"more behind the end":  {lines("0000", id+" refs/tags/v1"), gitwire.ErrMalformed},
		"delimiter":            {lines(id+" refs/tags/v1", "0001", "0000"), gitwire.ErrMalformed},
		"length 3":             {"0003", gitwire.ErrMalformed},
		"no length":            {"<html>", gitwire.ErrMalformed},
		"signed length":        {"+03f" + id, gitwire.ErrMalformed},
		"underscore":           {"0_0a" + id, gitwire.ErrMalformed},
		"length over the most": {"fff1" + strings.Repeat("x", 1<<16), gitwire.ErrMalformed},
		"empty line":           {"00040000", gitwire.ErrMalformed},
		"no name":              {lines(id, "0000"), gitwire.ErrMalformed},
		"empty name":           {lines(id+" ", "0000"), gitwire.ErrMalformed},
		"unborn":               {lines("unborn HEAD symref-target:refs/heads/main", "0000"), gitwire.ErrMalformed},
		"capital id":           {lines(strings.ToUpper(id)+" HEAD", "0000"), gitwire.ErrMalformed},
		"sha256":               {lines(id+id[:24]+" HEAD", "0000"), gitwire.ErrMalformed},
		"bad peeled":           {lines(id+" HEAD peeled:"+id[1:], "0000"), gitwire.ErrMalformed},
		"too many":             {lines(id+" a", id+" b", id+" c", id+" d", "0000"), git.ErrTooLarge},
		"error":                {lines("ERR \x1b[31mgo away"), errAny},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := gitwire.ReadRefs([]byte(tt.answer), 3)
			wantError(t, "ReadRefs", err, tt.want)
			if errors.Is(tt.want, errAny) {
				if said, ok := errors.AsType[*gitwire.RemoteError](err); !ok || strings.Contains(err.Error(), "\x1b") {
					t.Errorf("ReadRefs = %v, %v, want a RemoteError in plain text", said, err)
				}
			}
		})
	}
}

func TestReadPack(t *testing.T) {
	t.Parallel()
	shallow := lines("shallow-info", "shallow "+id, "0001")
	data := packet("\x01PA") + packet("\x02counting") + packet("\x01") + packet("\x01CK")
	tests := map[string]struct {
		answer string
		want   error
	}{
		"good":                 {shallow + lines("packfile") + data + "0000", nil},
		"without shallow-info": {lines("packfile") + data + "0000", nil},
		"nothing shallow":      {lines("shallow-info", "0001", "packfile") + data + "0000", nil},
		"nothing":              {"", gitwire.ErrOldProtocol},
		"only a flush":         {"0000", gitwire.ErrMalformed},
		"other section":        {lines("acknowledgments", "NAK", "0000"), gitwire.ErrMalformed},
		"unshallow":            {lines("shallow-info", "unshallow "+id, "0001", "packfile") + data + "0000", gitwire.ErrMalformed},
		"endless shallow":      {lines("shallow-info") + strings.Repeat(lines("shallow "+id), 100), gitwire.ErrMalformed},
		"cut in shallow":       {lines("shallow-info"), io.ErrUnexpectedEOF},
		"no pack":              {shallow, io.ErrUnexpectedEOF},
		"no end":               {shallow + lines("packfile") + data, io.ErrUnexpectedEOF},
		"ends in a delimiter":  {shallow + lines("packfile") + data + "0001", gitwire.ErrMalformed},
		"channel 0":            {lines("packfile") + packet("\x00PACK") + "0000", gitwire.ErrMalformed},
		"channel 4":            {lines("packfile") + packet("\x04PACK") + "0000", gitwire.ErrMalformed},
		"no channel":           {lines("packfile") + "00040000", gitwire.ErrMalformed},
		"error in the pack":    {lines("packfile") + packet("\x01PA") + packet("\x03out of memory") + "0000", errAny},
		"error before":         {lines("ERR not our ref"), errAny},
		"more behind the end":  {lines("packfile") + data + "0000" + data, gitwire.ErrMalformed},
		"too large":            {lines("packfile") + packet("\x01"+strings.Repeat("x", 101)) + "0000", git.ErrTooLarge},
		"too much progress":    {lines("packfile") + strings.Repeat(packet("\x02........."), 11) + data + "0000", git.ErrTooLarge},
		"only signs of life":   {lines("packfile") + strings.Repeat(packet("\x02."), 30_000), errAny},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pack, err := gitwire.ReadPack([]byte(tt.answer), 100)
			wantError(t, "ReadPack", err, tt.want)
			if err == nil && string(pack) != "PACK" {
				t.Errorf("ReadPack = %q, want the pack", pack)
			}
		})
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	list := lines(id+" HEAD", "0000")
	tests := map[string]struct {
		answer http.HandlerFunc
		want   error
	}{
		"no type": {func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, list) }, gitwire.ErrNotSmart},
		"encoded": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "br")
			canned(list)(w, r)
		}, gitwire.ErrNotSmart},
		"disconnected": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, errAny},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := serve(t, tt.answer).client(t, "/r.git").Refs(t.Context(), "HEAD")
			wantError(t, "Refs", err, tt.want)
		})
	}
	for _, kind := range []string{"text/html; charset=utf-8", "application/xhtml+xml"} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", kind) })
		_, err := s.client(t, "/r.git").Refs(t.Context(), "HEAD")
		if !errors.As(err, new(*httpx.PageError)) || !errors.Is(err, gitwire.ErrNotSmart) {
			t.Errorf("Refs from a page of the type %s = %v, want a PageError", kind, err)
		}
	}
	for _, status := range []int{204, 401, 403, 404, 503} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		_, err := s.client(t, "/r.git").Refs(t.Context(), "HEAD")
		if got, ok := errors.AsType[*gitwire.StatusError](err); !ok || got.StatusCode != status {
			t.Errorf("Refs after the status %d = %v, want a StatusError", status, err)
		}
	}
}

func TestReadFeatures(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		answer string
		want   []string
		err    error
	}{
		"good":              {lines("version 2", "agent=git/2.39.5", "ls-refs=unborn", "fetch=shallow wait-for-done filter", "object-format=sha1", "0000"), []string{"shallow", "wait-for-done", "filter"}, nil},
		"service first":     {lines("# service=git-upload-pack", "0000", "version 2", "fetch=filter", "0000"), []string{"filter"}, nil},
		"no features":       {lines("version 2", "fetch", "0000"), nil, nil},
		"no such command":   {lines("version 2", "ls-refs=filter", "xfetch=filter", "0000"), nil, nil},
		"old version":       {lines(id+" HEAD", "0000"), nil, gitwire.ErrOldProtocol},
		"nothing":           {"", nil, io.ErrUnexpectedEOF},
		"no end":            {lines("version 2", "fetch=filter"), nil, io.ErrUnexpectedEOF},
		"delimiter":         {lines("version 2", "0001", "0000"), nil, gitwire.ErrMalformed},
		"too many":          {lines("version 2") + strings.Repeat(lines("x=yz"), 2000) + "0000", nil, gitwire.ErrMalformed},
		"error":             {lines("ERR go away"), nil, errAny},
		"error after begin": {lines("version 2", "ERR go away"), nil, errAny},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := gitwire.ReadFeatures([]byte(tt.answer), "fetch")
			wantError(t, "ReadFeatures", err, tt.err)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("ReadFeatures (-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzAnswers(f *testing.F) {
	f.Add([]byte(lines(id+" refs/tags/v1 peeled:"+id, "0000")))
	f.Add([]byte(lines("shallow-info", "shallow "+id, "0001", "packfile") + packet("\x01PACK") + "0000"))
	f.Add([]byte(lines("packfile") + packet("\x03no") + "0000"))
	f.Add([]byte(lines("ERR no")))
	f.Add([]byte(lines("version 2", "fetch=shallow filter", "0000")))
	f.Fuzz(func(t *testing.T, answer []byte) {
		refs, err := gitwire.ReadRefs(answer, 10)
		if err == nil && len(refs) > 10 || err != nil && refs != nil {
			t.Errorf("ReadRefs(%q) = %v, %v", answer, refs, err)
		}
		for name, ref := range refs {
			if len(ref.ID) != 40 || len(ref.Commit) != 40 || name == "" || strings.ContainsAny(name, " ") {
				t.Errorf("ReadRefs(%q) has %q: %+v", answer, name, ref)
			}
		}
		if pack, err := gitwire.ReadPack(answer, 10); err == nil && len(pack) > 10 {
			t.Errorf("ReadPack(%q) = %q", answer, pack)
		}
		features, err := gitwire.ReadFeatures(answer, "fetch")
		if err != nil && features != nil {
			t.Errorf("ReadFeatures(%q) = %q, %v", answer, features, err)
		}
	})
}
