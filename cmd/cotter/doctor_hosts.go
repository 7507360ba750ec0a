package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/httpx"
)

type host struct {
	scheme, name string // name includes the port, if there is one
	// kinds say what the host serves: modules, providers, git, archives, oci and so on.
	kinds    []string
	packages []addrs.ModulePackage
	// named says that the user or one of the project's own modules names the host. Otherwise only
	// packages, registries or the lock do, and the host is not asked if it is on this machine.
	named bool
}

// host adds a host, if it is new.
func (d *doctor) host(scheme, name string, named bool) *host {
	for _, h := range d.hosts {
		if h.scheme == scheme && h.name == name {
			h.named = h.named || named
			return h
		}
	}
	h := &host{scheme: scheme, name: name, named: named}
	d.hosts = append(d.hosts, h)
	return h
}

func (h *host) serves(kind string) {
	if !h.has(kind) {
		h.kinds = append(h.kinds, kind)
	}
}

func (h *host) has(kind string) bool { return slices.Contains(h.kinds, kind) }

func (h *host) isRegistry() bool { return h.has("modules") || h.has("providers") }

// lookAtHosts sends one request to each host, and compares the local clock with theirs.
func (d *doctor) lookAtHosts(ctx context.Context) {
	d.begin("Hosts")
	d.network()
	if d.offline {
		d.ok("%s not asked: --offline is set", count(len(d.hosts), "host"))
		return
	}
	answers := make([]answer, len(d.hosts))
	if settings, err := userSettings(ctx); err == nil { // lookAtMirrors reports the error
		byUser := localHosts(settings)
		for _, h := range d.hosts {
			h.named = h.named || slices.Contains(byUser, h.name)
			if h.has("oci") && slices.Contains(settings.PlainHTTP, h.name) {
				h.scheme = "http"
			}
		}
	}
	var wait sync.WaitGroup
	for i, h := range d.hosts {
		wait.Go(func() { answers[i] = d.ask(ctx, h) })
	}
	wait.Wait()
	for i, h := range d.hosts {
		d.answered(h, answers[i])
	}
	d.begin("Clock")
	d.clock(answers)
}

func (d *doctor) network() {
	for _, name := range []string{"HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"} {
		value, isFile := d.env(name), strings.HasPrefix(name, "SSL_")
		if !isFile {
			value = cmp.Or(value, d.env(strings.ToLower(name)))
		}
		switch _, err := os.Stat(value); {
		case value == "":
		case isFile && certificateStore(runtime.GOOS) != "":
			d.note("%s = %s has no effect on this operating system", name, value)
		case isFile && err != nil:
			d.problem("%s: %s", name, err)
		default:
			d.ok("%s = %s", name, addrs.Redact(value))
		}
	}
}

type answer struct {
	status  int
	took    time.Duration
	date    time.Time // the server's time, or zero if the server did not send it
	arrived time.Time // the local time when the answer arrived
	err     error
}

const askTimeout = 10 * time.Second

// ask sends a request to a host, or connects to one that does not speak HTTP. It sets the scheme of an OCI
// registry on this machine that speaks http.
func (d *doctor) ask(ctx context.Context, h *host) answer {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	if !h.named {
		ctx = httpx.PointedTo(ctx, &url.URL{}) // an installation does not send it either
	}
	started := time.Now()
	if h.scheme != "https" && h.scheme != "http" {
		err := dial(ctx, h)
		return answer{took: time.Since(started), err: err}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, h.url(d.config.Services), nil)
	if err != nil {
		return answer{err: err}
	}
	client := httpx.Client{HTTP: &http.Client{Transport: transport(nil)}, UserAgent: "cotter/" + version(), MaxRedirects: 3}
	response, err := client.Send(req)
	if h.has("oci") && h.scheme == "https" && httpx.IsPlainLoopback(req.URL, err) {
		h.scheme = "http" // as for an installation
		return d.ask(ctx, h)
	}
	if err != nil {
		return answer{took: time.Since(started), err: err}
	}
	defer response.Body.Close()
	a := answer{status: response.StatusCode, arrived: time.Now()}
	a.took = a.arrived.Sub(started)
	a.date, _ = http.ParseTime(response.Header.Get("Date")) // zero without one
	return a
}

func dial(ctx context.Context, h *host) error {
	port, ok := map[string]string{"ssh": "22", "git": "9418"}[h.scheme]
	if !ok {
		return fmt.Errorf("hosts with the scheme %q cannot be checked", h.scheme)
	}
	at := url.URL{Scheme: h.scheme, Host: h.name}
	if err := httpx.CheckReach(ctx, &at); err != nil {
		return err
	}
	if _, err := httpx.CheckResolved(ctx, &at, at.Hostname()); err != nil {
		return err
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort(at.Hostname(), cmp.Or(at.Port(), port)))
	if err != nil {
		return err
	}
	return conn.Close()
}

// url returns the address to request: the discovery document of a registry, or a service from a host block of
// the CLI configuration; /v2/ of an OCI registry; the root of other hosts.
func (h *host) url(services map[addrs.Hostname]map[string]any) string {
	at := url.URL{Scheme: h.scheme, Host: h.name, Path: "/"}
	forced := services[addrs.Hostname(h.name)]
	switch {
	case h.isRegistry() && forced != nil:
		for _, service := range []string{"modules.v1", "providers.v1"} {
			if text, ok := forced[service].(string); ok {
				return text
			}
		}
	case h.isRegistry():
		at.Path = "/.well-known/terraform.json"
	case h.has("oci"):
		at.Path = "/v2/"
	}
	return at.String()
}

func (d *doctor) answered(h *host, a answer) {
	what := h.name + " (" + strings.Join(h.kinds, ", ") + ")"
	if h.scheme != "https" {
		what = h.scheme + "://" + what
	}
	forced := d.config.Services[addrs.Hostname(h.name)] != nil
	var network *httpx.NetworkError
	switch {
	case errors.As(a.err, &network) && network.IsUntrusted():
		d.problem("%s: its certificate is not trusted: %s", what, a.err)
	case is[*httpx.ReachError](a.err):
		d.problem("%s was not asked: %s", what, a.err)
	case a.err != nil:
		d.problem("%s cannot be reached: %s", what, addrs.RedactText(a.err.Error()))
	case a.status >= http.StatusInternalServerError:
		d.problem("%s answers with status %d", what, a.status)
	case h.isRegistry() && !forced && a.status != http.StatusOK:
		d.problem("%s answers with status %d and has no discovery document, so it is not a registry", what, a.status)
	default:
		d.ok("%s answers in %d ms", what, a.took.Milliseconds())
	}
}

// maxSkew is the accepted difference of clocks. Signatures, tokens and certificates depend on the time.
const maxSkew = 5 * time.Minute

// clock compares the local clock with that of the host with the smallest difference: others may be wrong.
func (d *doctor) clock(answers []answer) {
	known, closest := false, time.Duration(0)
	for _, a := range answers {
		if a.date.IsZero() {
			continue
		}
		if skew := a.arrived.Sub(a.date); !known || skew.Abs() < closest.Abs() {
			known, closest = true, skew
		}
	}
	switch {
	case !known:
		d.ok("not checked: no host sent its time")
	case closest.Abs() <= maxSkew:
		d.ok("it agrees with the clocks of the hosts")
	case closest > 0:
		d.note("it is %s ahead of all hosts", closest.Round(time.Minute))
	default:
		d.note("it is %s behind all hosts", closest.Abs().Round(time.Minute))
	}
}
