package graph_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/testenv"
)

// browser is a headless Chromium that is controlled by the DevTools protocol over two pipes. Each
// message is JSON, followed by a zero byte.
type browser struct {
	in      *os.File
	out     *bufio.Reader
	lastID  int
	session string
	// complaints are console messages of pages, uncaught errors, and the browser's own log
	// messages, such as violations of the page's policy. requests are the addresses that pages
	// load.
	complaints, requests []string
}

// message is a request, an answer, or an event.
type message struct {
	ID      int             `json:"id,omitempty"`
	Session string          `json:"sessionId,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

// newBrowser starts a browser with an empty page. It skips the test if there is no browser.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the browser gets pipes as further descriptors, which Windows does not have")
	}
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			program = found
			break
		}
	}
	if program == "" {
		t.Skip("chromium is not installed")
	}
	theirIn, in, err := os.Pipe()
	testenv.Must(t, err)
	out, theirOut, err := os.Pipe()
	testenv.Must(t, err)
	args := []string{
		"--headless", "--remote-debugging-pipe", "--user-data-dir=" + t.TempDir(), "--no-first-run", "--disable-gpu", "--disable-extensions",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--mute-audio", "--in-process-gpu", "--renderer-process-limit=1", "--disable-breakpad", "about:blank",
	}
	if os.Geteuid() == 0 {
		args = append([]string{"--no-sandbox"}, args...)
	}
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), program, args...)
	cmd.ExtraFiles = []*os.File{theirIn, theirOut} // descriptors 3 and 4
	testenv.Must(t, cmd.Start())
	_, _ = theirIn.Close(), theirOut.Close()
	b := &browser{in: in, out: bufio.NewReader(out)}
	t.Cleanup(func() {
		b.session = ""
		b.call(t, "Browser.close", nil)
		_, _ = in.Close(), out.Close()
		_ = cmd.Wait() // how it ends does not matter
	})
	var target struct{ TargetID, SessionID string }
	b.decode(t, &target, "Target.createTarget", map[string]any{"url": "about:blank"})
	b.decode(t, &target, "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true})
	b.session = target.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.call(t, domain+".enable", nil)
	}
	return b
}

// call sends a request and waits for its answer.
func (b *browser) call(t *testing.T, method string, params any) json.RawMessage {
	t.Helper()
	b.lastID++
	text, err := json.Marshal(message{ID: b.lastID, Session: b.session, Method: method, Params: params})
	if err == nil {
		_, err = b.in.Write(append(text, 0))
	}
	if err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	for {
		m := b.next(t)
		if m.ID != b.lastID {
			continue
		}
		if m.Error != nil {
			t.Fatalf("%s: %s", method, m.Error.Message)
		}
		return m.Result
	}
}

func (b *browser) decode(t *testing.T, into any, method string, params any) {
	t.Helper()
	if err := json.Unmarshal(b.call(t, method, params), into); err != nil {
		t.Fatalf("%s: %v", method, err)
	}
}

// next reads a message and records complaints and requests.
func (b *browser) next(t *testing.T) message {
	t.Helper()
	text, err := b.out.ReadBytes(0)
	if err != nil {
		t.Fatalf("the browser has ended: %v", err)
	}
	text = bytes.TrimSuffix(text, []byte{0})
	var m message
	testenv.Must(t, json.Unmarshal(text, &m))
	switch m.Method {
	case "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded", "Page.javascriptDialogOpening":
		b.complaints = append(b.complaints, string(text))
	case "Network.requestWillBeSent":
		var event struct {
			Params struct {
				Request struct{ URL string } `json:"request"`
			} `json:"params"`
		}
		testenv.Must(t, json.Unmarshal(text, &event))
		b.requests = append(b.requests, event.Params.Request.URL)
	}
	return m
}

// open loads a page or a picture from a file and waits until it is loaded.
func (b *browser) open(t *testing.T, name, content string) {
	t.Helper()
	name = filepath.Join(t.TempDir(), name)
	testenv.Must(t, os.WriteFile(name, []byte(content), 0o644))
	b.complaints, b.requests = nil, nil
	b.call(t, "Page.navigate", map[string]any{"url": "file://" + filepath.ToSlash(name)})
	b.eval(t, `new Promise((done) => document.readyState === "complete" ? done("") : addEventListener("load", () => done("")))`)
}

// check fails if the page has caused complaints or has loaded anything other than itself.
func (b *browser) check(t *testing.T) {
	t.Helper()
	if len(b.complaints) > 0 {
		t.Errorf("the console has:\n%s", strings.Join(b.complaints, "\n"))
	}
	if len(b.requests) != 1 {
		t.Errorf("the page loads %q", b.requests)
	}
}

// eval returns the value of an expression in the page as text.
func (b *browser) eval(t *testing.T, expression string) string {
	t.Helper()
	var answer struct {
		Result           struct{ Value any }
		ExceptionDetails any
	}
	b.decode(t, &answer, "Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true})
	if answer.ExceptionDetails != nil {
		t.Fatalf("%s: %v", expression, answer.ExceptionDetails)
	}
	return fmt.Sprint(answer.Result.Value)
}

// keyCodes are the codes of keys that are not characters.
var keyCodes = map[string]int{"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Home": 36, "End": 35, "Enter": 13, "Escape": 27, "Tab": 9}

// press presses keys, one after the other.
func (b *browser) press(t *testing.T, keys ...string) {
	t.Helper()
	for _, key := range keys {
		event := map[string]any{"type": "keyDown", "key": key}
		if code := keyCodes[key]; code != 0 {
			event["code"], event["windowsVirtualKeyCode"] = key, code
		} else {
			event["text"] = key
		}
		b.call(t, "Input.dispatchKeyEvent", event)
		b.call(t, "Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key})
	}
}

// scheme makes the browser prefer light or dark colors, and size sets the size of its window.
func (b *browser) scheme(t *testing.T, scheme string) {
	t.Helper()
	b.call(t, "Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}})
}

func (b *browser) size(t *testing.T, width, height int) {
	t.Helper()
	b.call(t, "Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false})
}
