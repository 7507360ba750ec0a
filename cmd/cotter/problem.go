package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getmodules/s3"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/httpx"
	"github.com/cotterpin/cotter/registryclient"
)

// problem is a short wording for an error of the library, whose own text has all details.
type problem struct {
	text string
	// remedies are in addition to those of the error's type.
	remedies []remedy
	// more is added if only one call has the problem.
	more string
	// instead says that the remedies of the library's error do not apply.
	instead bool
	// unreached is a host that cannot be reached, or "", and name what is known about its name.
	unreached string
	name      nameState
}

func say(text string, remedies []remedy) *problem { return &problem{text: text, remedies: remedies} }

type nameState int

const (
	nameKnown    nameState = iota // it was resolved, or need not be
	nameUnknown                   // there is no such host
	nameNotAsked                  // no server answered the question
)

// problemOf returns nil if the error's own text is best.
func problemOf(err error) *problem {
	switch {
	case errors.Is(err, installer.ErrOffline):
		return offlineProblem(err)
	case errors.Is(err, context.Canceled):
		return nil
	}
	if full := diskFull(err); full != nil {
		return full
	}
	if invalid, ok := errors.AsType[*installer.InvalidOptionsError](err); ok {
		return say((&installer.InvalidOptionsError{Reason: invalid.Reason, Err: invalid.Err}).Error(), nil) // users do not know the fields
	}
	if moved, ok := errors.AsType[*installer.ContentChangedError](err); ok && moved.Confirming {
		return say(withShortCommits(moved.Error()), nil)
	}
	if unreachable, ok := errors.AsType[*installer.UnreachableError](err); ok {
		return say(withShortCommits(unreachable.Error()), nil)
	}
	if refused, ok := errors.AsType[*s3.CredentialsError](err); ok {
		return say(refused.Error(), nil)
	}
	host := hostOf(err)
	if fetch, ok := errors.AsType[*getmodules.FetchError](err); host == "" && ok && strings.HasPrefix(fetch.Package, "git::file:") {
		return missingRepository("", fetch.Package, err)
	}
	if host == "" {
		return nil
	}
	for _, find := range []func(string, error) *problem{untrusted, unauthorized, notFound, failing, unreachable, unusable} {
		p := find(host, err)
		if p == nil {
			continue
		}
		if page, ok := errors.AsType[*getmodules.PageError](err); ok {
			p.more += "; the page at " + hostIn(page.Page) + " points there"
		}
		if replaced, ok := errors.AsType[*getmodules.GitReplacedError](err); ok {
			p.more += "; git's setting " + replaced.Setting + " replaces the address"
		}
		return p
	}
	return nil
}

// wholeCommit is the ID of a commit, of which text output shows the first digits.
var wholeCommit = lazyRegexp(`\b[0-9a-f]{40}\b`)

func withShortCommits(text string) string { return wholeCommit().ReplaceAllStringFunc(text, short) }

// lazyRegexp compiles a regular expression on its first call, because few runs need one.
func lazyRegexp(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

func offlineProblem(err error) *problem {
	switch {
	case errors.Is(err, installer.ErrNoVersionsOffline):
		return say("the lock has no version that fits, and versions cannot be listed offline", nil)
	case errors.Is(err, installer.ErrUnconfirmedOffline), is[*getproviders.UnconfirmedError](err):
		return say("not in the cache: no origin has confirmed the lock's entry for it on this machine", nil)
	}
	return say("neither installed nor in the cache", nil)
}

// hostsOf find the host that an error is about, or "": the one that was asked, before the one that the configuration
// names.
var hostsOf = []func(error) string{
	on(func(e *httpx.StatusError) string { return e.Answer.URL().Host }),
	on(func(e *httpx.NetworkError) string { return hostIn(e.URL) }),
	on(func(e *disco.DiscoveryError) string { return string(e.Host) }),
	on(func(e *registryclient.RequestError) string { return hostIn(e.URL) }),
	on(func(e *getproviders.MirrorError) string { return hostIn(e.Location) }),
	on(func(e *getproviders.AuthenticationError) string { return hostIn(e.Location) }),
	on(func(e *getmodules.GitReplacedError) string { return hostIn(e.URL) }),
	on(func(e *getmodules.PageError) string { return hostIn(e.Package) }),
	on(func(e *getmodules.FetchError) string { return hostIn(e.Package) }),
}

func hostOf(err error) string {
	for _, host := range hostsOf {
		if found := host(err); found != "" {
			return found
		}
	}
	return ""
}

func hostIn(address string) string { return urlIn(address).Host }

// urlIn returns the URL in the address of a package, such as "git::https://HOST/x.git". It is empty if the
// address has none.
func urlIn(address string) *url.URL {
	if _, rest, ok := strings.Cut(address, "::"); ok {
		address = rest
	}
	u, err := url.Parse(address)
	if err != nil {
		return &url.URL{}
	}
	return u
}

func unreachable(host string, err error) *problem {
	network, isNetwork := errors.AsType[*httpx.NetworkError](err)
	if !isNetwork && !errors.Is(err, disco.ErrUnreachable) && !errors.Is(err, getmodules.ErrHostUnreachable) {
		return nil
	}
	if name, ok := errors.AsType[*net.DNSError](err); ok && name.Name != "" && name.Name != hostname(host) {
		host = name.Name // of a token service, or of a proxy
	}
	reason, state := networkReason(err)
	if reason == "" && isNetwork {
		reason = network.Reason()
	} else if byGit, ok := errors.AsType[*git.HostError](err); ok && reason == "" {
		reason = lastWords(byGit.Err.Error())
	}
	if isNetwork {
		reason += inAttempts(network.Attempts)
	}
	return &problem{text: host + " cannot be reached: " + reason, unreached: host, name: state}
}

func hostname(host string) string {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		return host
	}
	return name
}

// said returns what git, ssh or the git server have said about a host.
func said(err error) (e git.HostError) {
	if found, ok := errors.AsType[*git.HostError](err); ok {
		e = *found
	}
	return e
}

// networkReason says in a few words why a host was not reached, or "", and what is known about its name.
func networkReason(err error) (reason string, state nameState) {
	name, isName := errors.AsType[*net.DNSError](err)
	byGit := said(err)
	switch {
	case isName && name.IsNotFound, byGit.Fault == git.NoSuchHost:
		return "there is no such host", nameUnknown
	case isName, byGit.Fault == git.NameNotAsked:
		return "its address cannot be looked up", nameNotAsked
	case byGit.Reason != "":
		return byGit.Reason, nameKnown
	}
	var timeout net.Error
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		reason = "connection refused"
	case errors.Is(err, syscall.ECONNRESET):
		reason = "the connection was reset"
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		reason = "there is no route to it"
	case errors.Is(err, httpx.ErrStalled), errors.Is(err, httpx.ErrTooSlow):
	case errors.As(err, &timeout) && timeout.Timeout():
		reason = "no answer in time"
	}
	if at := proxyOf(err); at != "" && reason != "" {
		reason += " by the proxy " + at
	}
	return reason, nameKnown
}

// proxyOf returns the address of the proxy that was not reached, or "".
func proxyOf(err error) string {
	failed, ok := errors.AsType[*net.OpError](err)
	if !ok || failed.Op != "proxyconnect" {
		return ""
	}
	if dial, ok := errors.AsType[*net.OpError](failed.Err); ok && dial.Addr != nil {
		return dial.Addr.String()
	}
	return "of the environment"
}

// lastWords cuts what git was doing from its message.
func lastWords(text string) string {
	if i := strings.LastIndex(text, ": "); i >= 0 {
		return text[i+2:]
	}
	return text
}

// statusOf returns what a server has answered to a request, or nil.
func statusOf(err error) *httpx.Answer {
	if status, ok := errors.AsType[*httpx.StatusError](err); ok {
		return status.Answer
	}
	return nil
}

func answered(host string, answer *httpx.Answer) string {
	return fmt.Sprintf("%s answered %d %s", host, answer.StatusCode, http.StatusText(answer.StatusCode))
}

// unauthorized is for a server that requires credentials, or other ones.
func unauthorized(host string, err error) *problem {
	fetch, isFetch := errors.AsType[*getmodules.FetchError](err)
	if isFetch && strings.HasPrefix(fetch.Package, "git::") {
		return unauthorizedGit(host, fetch, err)
	}
	answer := statusOf(err)
	if answer == nil || answer.StatusCode != http.StatusUnauthorized && answer.StatusCode != http.StatusForbidden {
		return nil
	}
	text := answered(host, answer) + ": no credentials were sent"
	if answer.Authorized {
		text = answered(host, answer) + ": it does not accept the credentials that were sent"
	}
	// Credentials belong to the host in the address, which may have its registry or its token service on another.
	owner := host
	request, isRegistry := errors.AsType[*registryclient.RequestError](err)
	if isRegistry {
		owner = cmp.Or(string(request.Package.Host), string(request.Provider.Hostname), host)
	} else if isFetch && strings.HasPrefix(fetch.Package, "oci://") {
		owner = hostIn(fetch.Package)
	}
	if owner != host {
		text += " for " + owner
	}
	if failed, ok := errors.AsType[*disco.CredentialsError](err); ok {
		text += ", because " + failed.Error()
	}
	p := say(text, do(login(owner, err)))
	if p.more = messageIn(err); answer.Authorized {
		p.remedies = do(checkLogin(owner))
	}
	return p
}

// login says how to add the credentials that the host of an error requires.
func login(host string, err error) string {
	archive, isProvider := errors.AsType[*getproviders.RefusedError](err)
	fetch, isFetch := errors.AsType[*getmodules.FetchError](err)
	switch {
	case isProvider:
		return archiveLogin(host, archive)
	case is[*registryclient.RequestError](err), is[*disco.DiscoveryError](err):
		return registryLogin(host)
	case isFetch && strings.HasPrefix(fetch.Package, "oci://"):
		return fmt.Sprintf("Run `docker login %s`.", shellWord(host))
	}
	return netrcLogin(host)
}

func unauthorizedGit(host string, fetch *getmodules.FetchError, err error) *problem {
	withheld, isWithheld := errors.AsType[*getmodules.GitWithheldError](err)
	if isWithheld {
		text := fmt.Sprintf("%s requires credentials, or has no such repository. Git's setting %s is not used for it, because the setting names no host, and only a package or a server names this one",
			withheld.Host, withheld.Setting)
		return say(text, do(hostSetting(withheld.Host, withheld.Setting)))
	}
	if !errors.Is(err, getmodules.ErrAuthentication) {
		return nil
	}
	u := urlIn(askedFor(fetch.Package, err))
	switch {
	case u.Scheme == "ssh":
		text := host + " refused the login over ssh"
		if user := u.User.Username(); user != "" {
			text += " of the user " + user
		}
		if reason := said(err).Reason; reason != "" {
			text += ": " + reason
		}
		return say(text, do(sshLogin))
	case statusOf(err) != nil: // the built-in client asks only for credentials in files of netrc
		return say(host+" requires credentials, and there are none that it accepts", do(netrcLogin(host)+" Or install git to use its credential helpers."))
	case said(err).Fault == git.Forbidden:
		return say(host+" answered 403 Forbidden: git has no credentials that it accepts", do(gitLogin(host)))
	}
	return say(host+" requires credentials, and git has none that it accepts", do(gitLogin(host)))
}

// askedFor returns the address of a package, or with what a setting of git has replaced it.
func askedFor(pkg string, err error) string {
	if replaced, ok := errors.AsType[*getmodules.GitReplacedError](err); ok {
		return replaced.URL
	}
	return pkg
}

// messageIn quotes what the registry says in its answer.
func messageIn(err error) string {
	if request, ok := errors.AsType[*registryclient.RequestError](err); ok && request.Message != "" {
		return fmt.Sprintf("; it says %q", request.Message)
	}
	return ""
}

// notFound is for what does not exist, or what the host shows only to authorized users.
func notFound(host string, err error) *problem {
	request, isRegistry := errors.AsType[*registryclient.RequestError](err)
	mirror, isMirror := errors.AsType[*getproviders.MirrorError](err)
	unusable, isUnusable := errors.AsType[*config.UnusableVersionError](err)
	fetch, isFetch := errors.AsType[*getmodules.FetchError](err)
	answer := statusOf(err)
	switch {
	case isUnusable && (errors.Is(err, registryclient.ErrNotFound) || errors.Is(err, registryclient.ErrUnsupportedPlatform)):
		return say(fmt.Sprintf("%s has no package of this version for %s%s", host, unusable.Platform, unusable.Suggestion()), nil)
	case isUnusable:
		return nil
	case isRegistry && errors.Is(err, registryclient.ErrNotFound):
		what := "module " + withoutHost(request.Package.String(), host)
		if request.Provider != (addrs.Provider{}) {
			what = "provider " + withoutHost(request.Provider.String(), host)
		}
		if !request.Version.IsZero() {
			what += " " + request.Version.String()
		}
		text := fmt.Sprintf("%s answered 404 Not Found: it has no %s, or shows it only with credentials", host, what)
		if unknown, ok := errors.AsType[*config.UnknownProviderError](err); ok {
			return say(text+unknown.Suggestion(), nil)
		}
		return say(text, about(host, checkAddress))
	case isMirror && errors.Is(err, getproviders.ErrNotFound):
		return say(fmt.Sprintf("the mirror %s has no %s", host, mirror.Subject()), nil)
	case errors.Is(err, disco.ErrNoServices):
		return say(host+" is no registry: it has no "+urlIn(answer.URL().String()).Path, about(host, "Check the spelling of {names}."))
	}
	if isFetch {
		if p := missingRepository(host, fetch.Package, err); p != nil {
			return p
		}
	}
	if answer == nil || answer.StatusCode != http.StatusNotFound && answer.StatusCode != http.StatusGone {
		return nil
	}
	what, remedies := addrs.Redact(answer.URL().String()), about(host, "Ask the operator of {names}.")
	switch isOCI := isFetch && strings.HasPrefix(fetch.Package, "oci://"); {
	case isOCI && !strings.HasPrefix(answer.URL().Path, "/v2/"): // a token server
		return nil
	case isFetch:
		what, remedies = fetch.Package, about(host, checkAddress)
	}
	return say(what+" does not exist: "+answered(host, answer), remedies)
}

// missingRepository is for a repository, on a host or this machine, that does not exist or lacks a ref.
func missingRepository(host, pkg string, err error) *problem {
	repository, _, _ := strings.Cut(strings.TrimPrefix(askedFor(pkg, err), "git::"), "?")
	isPage := said(err).Fault == git.WebPage // its own text says more
	missing, isRef := errors.AsType[*getmodules.RefNotFoundError](err)
	switch {
	case isRef && missing.Ref != "":
		return say(missing.ErrorFor(repository), nil)
	case !errors.Is(err, getmodules.ErrRepositoryNotFound) || isPage:
		return nil
	case host == "":
		return say("there is no git repository "+repository, nil)
	}
	text := fmt.Sprintf("there is no repository %s, or %s shows it only with credentials", repository, host)
	if unknown, ok := errors.AsType[*getmodules.UnknownArgumentsError](err); ok {
		text += "; " + unknown.Advice()
	}
	return say(text, about(host, checkAddress))
}

func withoutHost(address, host string) string { return strings.TrimPrefix(address, host+"/") }

// failing is for answers of a server that is overloaded or broken, or that does not know the request.
func failing(host string, err error) *problem {
	answer := statusOf(err)
	if answer == nil || is[*config.UnusableVersionError](err) {
		return nil
	}
	p := say(answered(host, answer), about(host, "Ask the operator of {names}."))
	if code := answer.StatusCode; code >= 500 || code == http.StatusTooManyRequests || code == http.StatusRequestTimeout {
		p.remedies = about(host, "Try again later, or ask the operator of {names}.")
	}
	p.more = " to GET " + addrs.Redact(answer.URL().EscapedPath()) + inAttempts(answer.Attempts) + messageIn(err)
	if wait := answer.RetryAfter.Wait; wait > 0 {
		p.more += fmt.Sprintf("; it asks to wait %s before the next request", wait)
	}
	return p
}

func inAttempts(n int) string {
	if n < 2 {
		return ""
	}
	return fmt.Sprintf(" (%d attempts)", n)
}

// unusable is for an answer that is not what was asked for.
func unusable(host string, err error) *problem {
	invalid := []error{
		disco.ErrInvalidAnswer, disco.ErrServiceNotProvided, disco.ErrVersionNotSupported, registryclient.ErrInvalidAnswer,
		getproviders.ErrInvalidMirror, getproviders.ErrMalformedSignature, getmodules.ErrOCIContent, getmodules.ErrNotArchive,
	}
	if !slices.ContainsFunc(invalid, func(is error) bool { return errors.Is(err, is) }) && said(err).Fault != git.WebPage {
		return nil
	}
	return say(ownText(err), about(host, "Check whether a proxy or the login page of a network answers in place of {names}. If none does, ask its operator."))
}

// ownText is the text of an error without the module or provider, which the message names.
func ownText(err error) string {
	if discovery, ok := errors.AsType[*disco.DiscoveryError](err); ok {
		return discovery.Error()
	}
	if request, ok := errors.AsType[*registryclient.RequestError](err); ok {
		return fmt.Sprintf("GET %s: %v", request.URL, request.Err)
	}
	if module, ok := errors.AsType[*installer.ModuleError](err); ok {
		return module.Err.Error()
	}
	if provider, ok := errors.AsType[*installer.ProviderError](err); ok {
		return provider.Err.Error()
	}
	return err.Error()
}
