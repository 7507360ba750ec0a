package main

import (
	"fmt"

	"github.com/urfave/cli/v3"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/addrs"
)

// providerFlags are those of every command that installs or locks providers.
func providerFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "no-providers", Usage: "leave the providers and their part of the lock as they are"},
		&cli.StringFlag{Name: "only", Usage: "`WHAT` is modules or providers; the other part stays as it is"},
		&cli.StringSliceFlag{Name: "platform", Usage: "have the providers' hashes for `OS_ARCH` in the lock too; can be repeated"},
		&cli.BoolFlag{Name: "prune-providers", Usage: "drop the lock's providers that no module requires, whatever the state needs"},
	}
}

// setProviders reads the flags of providerFlags.
func setProviders(cmd *cli.Command, req *cotter.Request) error {
	providers := &cotter.Providers{Prune: cmd.Bool("prune-providers")}
	for _, text := range cmd.StringSlice("platform") {
		platform, err := addrs.ParsePlatform(text)
		if err != nil {
			return usageError{err}
		}
		providers.Platforms = append(providers.Platforms, platform)
	}
	none := cmd.Bool("no-providers")
	switch only := cmd.String("only"); {
	case only == "modules":
		none = true
	case only == "providers" && none:
		return usageError{fmt.Errorf("--no-providers and --only=providers exclude each other")}
	case only == "providers":
		providers.Only = true
	case only != "":
		return usageError{fmt.Errorf("--only takes \"modules\" or \"providers\", and got %q", only)}
	}
	switch {
	case !none:
		req.Providers = providers
	case len(providers.Platforms) > 0:
		return usageError{fmt.Errorf("--platform is about providers, which this run leaves as they are")}
	}
	return nil
}

// providerChanges prints what became of the providers' entries of the lock.
func (o *output) providerChanges(changes []cotter.ProviderChange) {
	for _, change := range changes {
		o.printf("- provider %s: %s\n", change.Provider.ForDisplay(), providerChangeText(change))
	}
}

func providerChangeText(change cotter.ProviderChange) string {
	switch {
	case change.Old == "":
		return "added " + change.New
	case change.New == "":
		return "removed"
	case change.Old == change.New:
		return fmt.Sprintf("%s, %s more", change.New, count(change.Hashes, "hash"))
	}
	return change.Old + " -> " + change.New
}

// signedBy says who signed a provider's package, if that was checked in this run.
func signedBy(e cotter.ProviderInstalled) string {
	switch {
	case e.KeyID == "":
		return ""
	case e.Key == "":
		return fmt.Sprintf(" (signed, key %s)", e.KeyID)
	}
	return fmt.Sprintf(" (signed, key %s, %s)", e.KeyID, e.Key)
}

// jsonProvider is a provider in the output of install and list.
type jsonProvider struct {
	Provider    string            `json:"provider"`
	Version     string            `json:"version"`
	Constraints string            `json:"constraints,omitempty"`
	Hashes      []string          `json:"hashes,omitempty"`
	Dir         string            `json:"dir,omitempty"`
	KeyID       string            `json:"key_id,omitempty"`
	RequiredBy  []jsonProviderUse `json:"required_by,omitempty"`
}

type jsonProviderUse struct {
	Key        string `json:"key,omitempty"` // of the module; none for the root module
	By         string `json:"by"`
	Constraint string `json:"constraint,omitempty"`
	File       string `json:"file,omitempty"`
	Line       int    `json:"line,omitempty"`
}

func jsonProviders(providers []cotter.Provider) []jsonProvider {
	var list []jsonProvider
	for _, p := range providers {
		j := jsonProvider{Provider: p.Address.String(), Version: p.Version, Constraints: p.Constraints, Dir: p.Dir, KeyID: p.KeyID}
		for _, h := range p.Hashes {
			j.Hashes = append(j.Hashes, string(h))
		}
		for _, use := range p.RequiredBy {
			j.RequiredBy = append(j.RequiredBy, jsonProviderUse{
				Key: use.Path.String(), By: use.By, Constraint: use.Constraint, File: use.Range.Filename, Line: use.Range.Start.Line,
			})
		}
		list = append(list, j)
	}
	return list
}

type jsonProviderChange struct {
	Provider string `json:"provider"`
	Old      string `json:"old,omitempty"`
	New      string `json:"new,omitempty"`
	Hashes   int    `json:"hashes_added,omitempty"`
}

func jsonProviderChanges(changes []cotter.ProviderChange) []jsonProviderChange {
	var list []jsonProviderChange
	for _, change := range changes {
		list = append(list, jsonProviderChange{change.Provider.String(), change.Old, change.New, change.Hashes})
	}
	return list
}
