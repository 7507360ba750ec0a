package depsfile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"
	"github.com/opentofu/opentofu/internal/addrs"
	"github.com/opentofu/opentofu/internal/getproviders"
	"github.com/opentofu/opentofu/internal/tfdiags"
	"github.com/opentofu/svchost"

	cotter "github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/lockfile"
)

// LoadLocksFromFile reads a lock file.
func LoadLocksFromFile(filename string) (*Locks, tfdiags.Diagnostics) {
	src, err := os.ReadFile(filename)
	if err != nil {
		return NewLocks(), tfdiags.Diagnostics{}.Append(&hcl.Diagnostic{
			Severity: hcl.DiagError,
			Summary:  "Failed to read file",
			Detail:   fmt.Sprintf("The configuration file %q could not be read.", filename),
		})
	}
	return LoadLocksFromBytes(src, filename)
}

// LoadLocksFromBytes reads the content of a lock file.
func LoadLocksFromBytes(src []byte, filename string) (*Locks, tfdiags.Diagnostics) {
	var diags tfdiags.Diagnostics
	locks := NewLocks()
	locks.sources = map[string][]byte{filename: src}
	file, err := lockfile.Parse(src, filename)
	if invalid, ok := errors.AsType[*lockfile.SyntaxError](err); ok {
		return locks, diags.Append(invalid.Diagnostics)
	}
	diags = diags.Append(file.StockFaults(cotter.Parser{}))
	for _, provider := range file.Providers() {
		lock, err := readProvider(provider)
		if err != nil {
			diags = diags.Append(&hcl.Diagnostic{
				Severity: hcl.DiagError,
				Summary:  "Invalid provider lock",
				Detail:   fmt.Sprintf("The lock of provider %s is not valid: %s.", provider.Address, err),
				Subject:  provider.Range.Ptr(),
			})
			continue
		}
		locks.providers[lock.addr] = lock
	}
	return locks, diags
}

func readProvider(provider lockfile.Provider) (*ProviderLock, error) {
	version, err := getproviders.ParseVersion(provider.Version.String())
	if err != nil {
		return nil, err
	}
	constraints, err := getproviders.ParseVersionConstraints(provider.Constraints.String())
	if err != nil {
		return nil, err
	}
	var hashes []getproviders.Hash
	for _, hash := range provider.Hashes {
		hashes = append(hashes, getproviders.Hash(hash))
	}
	return NewProviderLock(addrs.Provider{Hostname: svchost.Hostname(provider.Address.Hostname), Namespace: provider.Address.Namespace, Type: provider.Address.Type}, version, constraints, hashes), nil
}

// SaveLocksToFile writes the providers to a lock file. Everything else in it stays, such as the
// locks of modules.
func SaveLocksToFile(_ context.Context, locks *Locks, filename string) tfdiags.Diagnostics {
	if err := save(locks, filename); err != nil {
		return tfdiags.Diagnostics{}.Append(tfdiags.Sourceless(tfdiags.Error, "Failed to update dependency lock file",
			fmt.Sprintf("Error while writing new dependency lock information to %s: %s.", filename, err)))
	}
	return nil
}

func save(locks *Locks, filename string) error {
	root, err := os.OpenRoot(filepath.Dir(filename))
	if err != nil {
		return err
	}
	defer root.Close()
	file, err := lockfile.ReadFile(root, filepath.Base(filename))
	if err != nil {
		return err
	}
	if err := setProviders(file, locks); err != nil {
		return err
	}
	_, err = file.WriteFile(root, filepath.Base(filename))
	return err
}

// SaveLocksToBytes returns the content of a lock file with the providers alone.
func SaveLocksToBytes(locks *Locks) ([]byte, tfdiags.Diagnostics) {
	var file lockfile.File
	if err := setProviders(&file, locks); err != nil {
		return nil, tfdiags.Diagnostics{}.Append(err)
	}
	return file.Bytes(), nil
}

func setProviders(file *lockfile.File, locks *Locks) error {
	file.NameTool("tofu")
	var all []lockfile.Provider
	for _, lock := range locks.providers {
		provider := lockfile.Provider{
			Address: cotter.Provider{Hostname: cotter.Hostname(lock.addr.Hostname), Namespace: lock.addr.Namespace, Type: lock.addr.Type},
		}
		constraints := getproviders.VersionConstraintsString(lock.versionConstraints)
		if err := errors.Join(provider.Version.UnmarshalText([]byte(lock.version.String())), provider.Constraints.UnmarshalText([]byte(constraints))); err != nil {
			return fmt.Errorf("provider %s: %w", lock.addr, err)
		}
		for _, hash := range lock.hashes {
			provider.Hashes = append(provider.Hashes, hashing.Hash(hash))
		}
		all = append(all, provider)
	}
	file.SetProviders(all)
	return nil
}
