package cliconfig

import (
	"context"
	"strings"
	"sync"
)

// OCICredentials are what an OCI registry wants to see. Which fields are set
// depends on where they are from: user name and password, one or both tokens,
// or nothing for anonymous requests.
type OCICredentials struct {
	Username     string
	Password     Token
	AccessToken  Token
	RefreshToken Token
}

// ociConfig is where credentials for OCI registries are looked for.
type ociConfig struct {
	blocks   []ociBlock
	defaults *ociDefaults
	files    []dockerFile // the ambient ones
	warn     func(text string)

	// The ambient files are read when they are first needed, since few
	// configurations have modules from OCI registries.
	mu      sync.Mutex
	read    bool
	ambient []ociSource
	err     error
}

// ociBlock is an oci_credentials block: its label and, in one way or another,
// credentials.
type ociBlock struct {
	prefix repository
	ociSecret
}

// ociDefaults is the oci_default_credentials block.
type ociDefaults struct {
	helper    string
	noAmbient bool
	// files take the place of the usual ones, unless nil.
	files []dockerFile
}

// ociSecret are credentials, or the name of the helper that has them, or what
// is wrong with the place that should have them.
type ociSecret struct {
	credentials OCICredentials
	helper      string
	err         error
}

// ociSource finds the credentials for a repository, and how well they match.
type ociSource interface {
	match(want repository) (ociSecret, specificity)
}

// OCICredentials are the credentials for a repository, such as "team/network",
// at a registry, HOST or HOST:PORT as it is in the source address. Of all
// places that know some, the most specific one counts: a repository's path
// before its parents, those before the host, the host before the defaults. Of
// equals it is the first: a block of the configuration before Docker's files.
// Nothing found is no error: the result is zero then. A helper program is asked
// once for each host.
//
// An error is ctx's, or says which file or helper is broken; it holds no secret.
func (c *Config) OCICredentials(ctx context.Context, host, path string) (OCICredentials, error) {
	want := repository{strings.ToLower(host), path}
	ambient, err := c.oci.readAmbient(ctx)
	if err != nil {
		return OCICredentials{}, err
	}
	var best ociSecret
	highest := noMatch
	for _, source := range append(c.oci.sources(), ambient...) {
		if secret, found := source.match(want); found > highest {
			best, highest = secret, found
		}
	}
	if best.helper == "" {
		return best.credentials, best.err
	}
	question := dockerQuestion{best.helper, want.host}
	return c.ociAnswers.do(ctx, question, func(ctx context.Context) (OCICredentials, error) {
		return question.ask(ctx, c.programs)
	})
}

// sources are those of the configuration, in the order of their precedence.
func (o *ociConfig) sources() []ociSource {
	var sources []ociSource
	for _, block := range o.blocks {
		sources = append(sources, block)
	}
	if o.defaults != nil {
		sources = append(sources, o.defaults)
	}
	return sources
}

// readAmbient reads Docker's files, unless that is forbidden or has been done.
func (o *ociConfig) readAmbient(ctx context.Context) ([]ociSource, error) {
	files := o.files
	if d := o.defaults; d != nil {
		if d.noAmbient {
			return nil, nil
		}
		if d.files != nil {
			files = d.files
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.read {
		o.ambient, o.err = readDockerFiles(ctx, files, o.warn)
		o.read = ctx.Err() == nil
	}
	return o.ambient, o.err
}

func (b ociBlock) match(want repository) (ociSecret, specificity) {
	return b.ociSecret, b.prefix.covers(want)
}

func (d *ociDefaults) match(repository) (ociSecret, specificity) {
	if d.helper == "" {
		return ociSecret{}, noMatch
	}
	return ociSecret{helper: d.helper}, everywhere
}
