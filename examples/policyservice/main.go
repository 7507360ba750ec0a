// Command policyservice shows how a service checks the locks of other programs: it answers a request
// whose body is a lock with the modules and providers that a policy refuses. It reads no project and
// sends no request.
//
//	policyservice cotter.hcl
//	curl --data-binary @.terraform.lock.hcl http://localhost:8080/
package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"os"

	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/policy"
)

func main() {
	text, err := os.ReadFile(os.Args[1])
	rules, diags := policy.Parse(text, os.Args[1])
	if err != nil || !rules.Declared() { // there is no policy block, or it has errors
		log.Fatalf("%s has no valid policy: %v, %v", os.Args[1], err, diags)
	}
	log.Fatal(http.ListenAndServe("localhost:8080", check(rules)))
}

func check(rules *policy.Policy) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, lockfile.MaxSize))
		lock, invalid := lockfile.Parse(text, "lock")
		if err != nil || invalid != nil || lock.ProviderFaults().HasErrors() || len(lock.SourceModules()) > 0 {
			http.Error(w, "the lock cannot be checked", http.StatusBadRequest) // not all of it can be read
			return
		}
		for _, m := range lock.Modules() {
			err := rules.CheckCall(policy.Call{Source: m.Source, Constraint: m.Constraints})
			if err == nil && !m.Package.IsZero() {
				err = rules.CheckPackage(m.Package.Package) // where the registry has the package
			}
			if err != nil {
				fmt.Fprintf(w, "module %s: %v\n", m.Key, err)
			}
		}
		for _, p := range lock.Providers() {
			if err := rules.CheckProvider(p.Address); err != nil {
				fmt.Fprintf(w, "provider %s: %v\n", p.Address, err)
			}
		}
	}
}
