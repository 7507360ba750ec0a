package cliconfig

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/internal/text/sanitize"
)

// providerInstallation decodes the block, of which all files may have one. In JSON, each method is a
// separate block unless it is in a list.
func (d *decoder) providerInstallation(at hcl.Pos, body object) {
	if d.config.Providers.Explicit {
		d.fault(at, "There is a provider_installation block already, and only one is allowed. In JSON its value is a list with one object.")
		return
	}
	d.config.Providers.Explicit = true
	for i, block := range body {
		content, ok := entries(block.value)
		if !ok || block.assigned {
			d.fault(block.at, "%q must be a block in a provider_installation block.", block.key)
			continue
		}
		if block.key == "dev_overrides" {
			d.devOverrides(block.at, content, i > 0 && body[i-1].key != block.key)
			continue
		}
		if nested := firstObject(content); nested != nil {
			d.fault(nested.at, "A %s block has no label and no blocks in it.", block.key)
			continue
		}
		d.installationMethod(block, content)
	}
}

func firstObject(content object) *item {
	for i := range content {
		if _, ok := content[i].value.(object); ok {
			return &content[i]
		}
	}
	return nil
}

func (d *decoder) installationMethod(block item, body object) {
	method := InstallationMethod{Kind: block.key}
	var ok bool
	switch {
	case block.key == MethodDirect:
		ok = d.direct(block.at, body, &method)
	case block.key == MethodFilesystemMirror:
		ok = d.filesystemMirror(block.at, body, &method)
	case block.key == MethodNetworkMirror:
		ok = d.networkMirror(block.at, body, &method)
	case block.key == MethodOCIMirror && !d.config.terraform:
		ok = d.ociMirror(block.at, body, &method)
	default:
		d.fault(block.at, "There is no installation method %q.", block.key)
	}
	include, includeOK := d.patterns(block.at, body, "include")
	exclude, excludeOK := d.patterns(block.at, body, "exclude")
	if !ok || !includeOK || !excludeOK {
		return
	}
	method.Include, method.Exclude = include, exclude
	if method.Kind == MethodOCIMirror && !d.checkTemplate(block.at, method) {
		return
	}
	d.config.Providers.Methods = append(d.config.Providers.Methods, method)
}

func (d *decoder) direct(at hcl.Pos, body object, method *InstallationMethod) bool {
	method.DownloadAttempts = d.config.Providers.downloadAttempts
	const retries = "download_retry_count"
	if _, found := body.last(retries); !found || d.config.terraform {
		return true
	}
	n, ok := d.count(at, body, retries, maxRetries)
	if ok && n > 0 {
		method.DownloadAttempts = n + 1
	}
	return ok
}

func (d *decoder) filesystemMirror(at hcl.Pos, body object, method *InstallationMethod) bool {
	path, ok := d.required(at, body, "path")
	method.Path = filepath.Clean(path)
	return ok
}

func (d *decoder) networkMirror(at hcl.Pos, body object, method *InstallationMethod) bool {
	text, ok := d.required(at, body, "url")
	if !ok {
		return false
	}
	u, err := url.Parse(strings.TrimSpace(text)) // the error would repeat a password
	if err != nil || u.Scheme != "https" || u.Host == "" {
		d.fault(at, "The \"url\" of a network_mirror must be a URL that begins with https://.")
		return false
	}
	if u.Path = strings.TrimSuffix(u.Path, "/") + "/"; u.RawPath != "" {
		u.RawPath = strings.TrimSuffix(u.RawPath, "/") + "/"
	}
	if method.URL = u; u.User != nil {
		password, _ := u.User.Password()
		method.user, method.password, u.User = u.User.Username(), sanitize.NewSecret(password), nil
	}
	if _, found := body.last("trust_all_hashes"); found && !d.config.terraform {
		method.TrustAllHashes, ok = d.boolean(at, body, "trust_all_hashes")
	}
	return ok
}

func (d *decoder) ociMirror(at hcl.Pos, body object, method *InstallationMethod) bool {
	text, ok := d.required(at, body, "repository_template")
	if !ok {
		return false
	}
	var err error
	if method.Repository, err = getproviders.ParseRepositoryTemplate(text); err != nil {
		d.fault(at, "%s.", err)
	}
	return err == nil
}

// checkTemplate refuses templates that give several providers the same repository. A template may omit a
// part of the address for which the patterns allow only one value.
func (d *decoder) checkTemplate(at hcl.Pos, method InstallationMethod) bool {
	values := map[string]map[string]bool{"hostname": {}, "namespace": {}, "type": {}}
	for _, pattern := range method.Include {
		host, namespace, typ := pattern.Fixed()
		values["hostname"][string(host)] = true
		values["namespace"][namespace] = true
		values["type"][typ] = true
	}
	for _, name := range []string{"hostname", "namespace", "type"} {
		isFixed := len(values[name]) == 1 && !values[name][""]
		if !isFixed && !method.Repository.Has(name) {
			d.fault(at, "The \"repository_template\" needs ${%s}, unless \"include\" selects a single one.", name)
			return false
		}
	}
	return true
}

// required decodes a string that must not be empty.
func (d *decoder) required(at hcl.Pos, body object, name string) (string, bool) {
	value, found := body.last(name)
	if text, ok := value.(string); found && (!ok || text != "") {
		return d.text(at, body, name)
	}
	d.fault(at, "The block needs an argument %q.", name)
	return "", false
}

func (d *decoder) patterns(at hcl.Pos, body object, name string) (patterns []getproviders.Pattern, ok bool) {
	if _, found := body.last(name); !found {
		return nil, true
	}
	texts, ok := d.texts(at, body, name)
	for _, text := range texts {
		pattern, err := getproviders.ParsePattern(text, d.config.defaultHost)
		if err != nil {
			d.fault(at, "In %q: %s.", name, err)
			ok = false
		}
		patterns = append(patterns, pattern)
	}
	return patterns, ok
}

// devOverrides decodes a block that must precede the methods, because it takes precedence over them.
func (d *decoder) devOverrides(at hcl.Pos, body object, late bool) {
	if late {
		d.fault(at, "A dev_overrides block has to come before all installation methods.")
		return
	}
	parser := addrs.Parser{DefaultRegistryHost: d.config.defaultHost}
	for _, entry := range body {
		provider, err := parser.ParseProviderSource(entry.key)
		if err != nil {
			d.fault(entry.at, "In dev_overrides: %s.", err)
			continue
		}
		dir, ok := entry.value.(string)
		if !ok {
			d.fault(entry.at, "In dev_overrides: the value for %q must be a directory.", entry.key)
			continue
		}
		// The last entry of a provider counts.
		overrides := slices.DeleteFunc(d.config.Providers.DevOverrides, func(o DevOverride) bool { return o.Provider == provider })
		d.config.Providers.DevOverrides = append(overrides, DevOverride{provider, filepath.Clean(dir)})
	}
}

// pluginCacheDir decodes an argument with environment variables. A variable that sets the directory takes
// precedence, then the first file.
func (d *decoder) pluginCacheDir(at hcl.Pos, content object) {
	dir, ok := d.text(at, content, "plugin_cache_dir")
	if ok && dir != "" && !d.hasCacheDir {
		d.config.Providers.PluginCacheDir = os.Expand(dir, d.environment.lookup)
	}
}

// pluginCacheMayBreak decodes an argument that one file is enough to set.
func (d *decoder) pluginCacheMayBreak(at hcl.Pos, content object) {
	mayBreak, _ := d.boolean(at, content, "plugin_cache_may_break_dependency_lock_file")
	d.config.Providers.PluginCacheMayBreakLock = d.config.Providers.PluginCacheMayBreakLock || mayBreak
}
