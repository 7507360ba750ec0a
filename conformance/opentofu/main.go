// Command opentofu runs test suites of OpenTofu twice: with OpenTofu's own code, and with
// Cotter's in the place of some of its files. It prints a table of both and every test whose
// result differs.
//
//	go run . [PACKAGE...]
//
// The packages are directories below internal/ in OpenTofu's source; without arguments, those in
// suites. The source comes from the Go module proxy and is copied to the
// user's cache directory. The files in _locking and _overlay take the place of those of the same name,
// by the -overlay flag of the go command. A name that ends in .ed has the changes of a file of which
// only a few lines differ, as "diff -e" writes them: nothing of OpenTofu's files is part of this
// module. The files in _locking are all that OpenTofu needs to lock modules: TestProposal builds it
// with them alone. Those in _overlay replace further parts. What is in _both is for both runs: tests of ours, and a
// registry of OpenTofu's tests that names a URL for private modules. Cotter refuses the file of this
// machine that it names otherwise, and TestRegistryAuth, which is about credentials, would end there.
//
// The exit status is 1 if a test passes with OpenTofu's code but not with Cotter's, unless the
// file allowed names it with a reason; and if that file names a test that passes. It is 0 if the
// source cannot be had.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

const (
	module  = "github.com/opentofu/opentofu"
	version = "v1.12.6"
)

// suites are the packages whose tests run by default: those with our files, and one that installs
// providers with them.
var suites = []string{"addrs", "configs", "depsfile", "getmodules", "getproviders", "initwd", "providercache", "registry"}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "conformance/opentofu:", err)
		os.Exit(1)
	}
}

func run(packages []string) error {
	if len(packages) == 0 {
		packages = suites
	}
	work, err := os.MkdirTemp("", "cotter-opentofu-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	tree, err := prepare(work)
	if missing, ok := errors.AsType[*missingError](err); ok {
		fmt.Println("skipped:", missing)
		return nil
	}
	if err != nil {
		return err
	}
	suite := suite{tree: tree, packages: packages}
	if err := suite.download(); err != nil {
		fmt.Println("skipped: what OpenTofu requires cannot be had:", err)
		return nil
	}
	allowed, err := readAllowed("allowed")
	if err != nil {
		return err
	}
	// Our run is the first, because the go command then adds what Cotter requires to go.mod.
	ours, err := suite.run(tree.ours)
	if err != nil {
		return err
	}
	stock, err := suite.run(tree.stock)
	if err != nil {
		return err
	}
	maps.DeleteFunc(allowed, func(at test, _ string) bool { return !slices.Contains(packages, at.pkg) })
	if differ(stock, ours, allowed) {
		// Some of OpenTofu's tests depend on the load of the machine. What differs, must differ twice.
		if err := errors.Join(suite.again(tree.ours, ours), suite.again(tree.stock, stock)); err != nil {
			return err
		}
	}
	printTable(packages, stock, ours, allowed)
	return compare(stock, ours, allowed)
}

// tree is OpenTofu's source, with what the go command needs to compile it with our files.
type tree struct {
	source  string
	modFile string
	// ours, locking and stock are files for the -overlay flag: with all of our files, with those for the
	// locking of modules, and without.
	ours, locking, stock string
}

// missingError says that OpenTofu's source could not be downloaded.
type missingError struct{ err error }

func (e *missingError) Error() string { return "OpenTofu's source cannot be had: " + e.err.Error() }

// prepare gets the source, and writes the files of a tree to the directory work. Its error can be a
// *missingError.
func prepare(work string) (tree, error) {
	here, err := os.Getwd()
	if err != nil {
		return tree{}, err
	}
	at := func(name string) string { return filepath.Join(here, name) }
	if _, err := os.Stat(at("_overlay")); err != nil {
		return tree{}, errors.New("run this in the directory conformance/opentofu")
	}
	source, err := findSource()
	if err != nil {
		return tree{}, &missingError{err}
	}
	t := tree{
		source: source, modFile: filepath.Join(work, "go.mod"),
		ours: filepath.Join(work, "overlay.json"), locking: filepath.Join(work, "locking.json"), stock: filepath.Join(work, "stock.json"),
	}
	both, locking := filepath.Join(work, "both"), filepath.Join(work, "locking")
	return t, errors.Join(
		writeModFile(work, source, filepath.Dir(filepath.Dir(here))),
		edit(both, source, at("_both")),
		edit(locking, source, at("_locking")),
		writeOverlay(t.stock, source, both, at("_both")),
		writeOverlay(t.locking, source, locking, at("_locking")),
		writeOverlay(t.ours, source, both, at("_both"), locking, at("_locking"), at("_overlay")),
	)
}

// command returns a go command that compiles the tree with an overlay.
func (t tree) command(verb, overlay string, args ...string) *exec.Cmd {
	cmd := exec.Command("go", append([]string{verb, "-mod=mod", "-modfile=" + t.modFile, "-overlay=" + overlay}, args...)...)
	cmd.Dir = t.source
	return cmd
}

// findSource returns the directory of the source, which it downloads if need be.
func findSource() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	parent := filepath.Join(cache, "cotter-dev", "opentofu-tests-"+version)
	source := filepath.Join(parent, "src")
	if _, err := os.Stat(source); errors.Is(err, fs.ErrNotExist) {
		return source, copySource(parent, source)
	}
	return source, nil
}

func copySource(parent, source string) error {
	download := exec.Command("go", "mod", "download", "-json", module+"@"+version)
	download.Dir = os.TempDir() // not in a module of ours
	answer, err := download.Output()
	var found struct{ Dir, Error string }
	if jsonErr := json.Unmarshal(answer, &found); jsonErr != nil || found.Error != "" {
		return errors.Join(err, jsonErr, errors.New(found.Error))
	}
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	copied, err := os.MkdirTemp(parent, "copy-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(copied)
	if err := copyWritable(copied, found.Dir); err != nil {
		return err
	}
	return os.Rename(copied, source)
}

// copyWritable copies a tree. Tests write in directories of their package, and the files of the
// module cache are read-only.
func copyWritable(to, from string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		if entry.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, text, 0o644)
	})
}

// writeModFile writes a go.mod and a go.sum for both runs, so that they differ in nothing but our
// files. OpenTofu's replace directives stay, and have no effect if we require a newer version.
func writeModFile(work, source, cotter string) error {
	mod, err := os.ReadFile(filepath.Join(source, "go.mod"))
	if err != nil {
		return err
	}
	mod = fmt.Appendf(mod, "\nrequire github.com/cotterpin/cotter v0.0.0\n\nreplace github.com/cotterpin/cotter => %s\n", cotter)
	var sums [][]byte
	for _, dir := range []string{source, cotter} {
		sum, err := os.ReadFile(filepath.Join(dir, "go.sum"))
		if err != nil {
			return err
		}
		sums = append(sums, sum)
	}
	if err := os.WriteFile(filepath.Join(work, "go.mod"), mod, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(work, "go.sum"), bytes.Join(sums, nil), 0o644)
}

// suffixOfEdits ends the names of files with changes.
const suffixOfEdits = ".ed"

// edit writes the files for which a directory has changes, with these changes, to a directory like source.
func edit(root, source, changes string) error {
	return filepath.WalkDir(changes, func(path string, entry fs.DirEntry, err error) error {
		name, isEdits := strings.CutSuffix(path, suffixOfEdits)
		if err != nil || entry.IsDir() || !isEdits {
			return err
		}
		rel, err := filepath.Rel(changes, name)
		if err != nil {
			return err
		}
		stock, err := os.ReadFile(filepath.Join(source, rel))
		if err != nil {
			return err
		}
		script, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text, err := edited(string(stock), string(script))
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, rel)), 0o755); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(root, rel), []byte(text), 0o644)
	})
}

// edited applies the commands of "diff -e" to a text: Na adds lines behind line N, M,Nc changes lines, and M,Nd deletes
// them. They go from the end to the start, so that each has the numbers of the original.
func edited(text, script string) (string, error) {
	lines, rest := strings.SplitAfter(text, "\n"), strings.SplitAfter(script, "\n")
	for len(rest) > 0 && rest[0] != "" {
		command := strings.TrimSuffix(rest[0], "\n")
		rest = rest[1:]
		verb, numbers := command[len(command)-1:], command[:len(command)-1]
		first, last, isRange := strings.Cut(numbers, ",")
		from, err := strconv.Atoi(first)
		to := from
		if err == nil && isRange {
			to, err = strconv.Atoi(last)
		}
		if err != nil || from < 1 || to < from || to > len(lines) || !strings.Contains("acd", verb) {
			return "", fmt.Errorf("invalid command %q", command)
		}
		var added []string
		if verb != "d" {
			end := slices.Index(rest, ".\n")
			if end < 0 {
				return "", fmt.Errorf("the lines of %q have no end", command)
			}
			added, rest = rest[:end], rest[end+1:]
		}
		if verb == "a" {
			from = to + 1
		}
		lines = slices.Replace(lines, from-1, to, added...)
	}
	return strings.Join(lines, ""), nil
}

// writeOverlay writes the file for the -overlay flag. roots are directories like source.
func writeOverlay(name, source string, roots ...string) error {
	files := make(map[string]string)
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || strings.HasSuffix(path, suffixOfEdits) {
				return err
			}
			rel, err := filepath.Rel(root, path)
			files[filepath.Join(source, rel)] = path
			return err
		})
		if err != nil {
			return err
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": files})
	if err != nil {
		return err
	}
	return os.WriteFile(name, text, 0o644)
}

// suite is the tests of some packages below internal/ in OpenTofu's source.
type suite struct {
	tree
	packages []string
}

func (s suite) command(verb, overlay string, args ...string) *exec.Cmd {
	for _, pkg := range s.packages {
		args = append(args, "./internal/"+pkg)
	}
	return s.tree.command(verb, overlay, args...)
}

// download downloads the modules that OpenTofu's own code needs.
func (s suite) download() error {
	output, err := s.command("list", s.stock, "-deps", "-test").CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, output)
	}
	return nil
}

// test is a test or a subtest of a package.
type test struct{ pkg, name string }

func (t test) String() string { return t.pkg + " " + t.name }

// run returns the result of each test: "pass", "fail" or "skip". A package that does not
// compile has a failed test without a name.
func (s suite) run(overlay string) (map[test]string, error) {
	cmd := s.command("test", overlay, "-json", "-vet=off")
	cmd.Env = append(os.Environ(), "TMPDIR="+filepath.Dir(overlay)) // files that tests leave behind are removed too
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	output, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	results, builds, err := readResults(output)
	_ = cmd.Wait() // it fails if a test fails
	for at, result := range results {
		if at.name != "" && result == "fail" {
			delete(results, test{pkg: at.pkg}) // the package fails because of this test
		}
	}
	if err == nil && (len(results) == 0 || stderr.Len() > 0 && strings.Contains(stderr.String(), "go: ")) {
		fmt.Fprint(os.Stderr, stderr.String())
		if len(results) == 0 {
			err = errors.New("the go command ran no test")
		}
	}
	fmt.Print(builds)
	return results, err
}

// again runs the tests again. A test that passes this time has passed.
func (s suite) again(overlay string, results map[test]string) error {
	second, err := s.run(overlay)
	if err != nil {
		return err
	}
	maps.DeleteFunc(second, func(_ test, result string) bool { return result != "pass" })
	maps.Copy(results, second)
	return nil
}

// readResults reads the output of go test -json. builds is the output of failed compilations.
func readResults(output io.Reader) (results map[test]string, builds string, err error) {
	results = make(map[test]string)
	var failed strings.Builder
	lines := bufio.NewReader(output)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return results, failed.String(), err
		}
		var event struct{ Action, Package, Test, Output string }
		if json.Unmarshal(line, &event) != nil {
			continue
		}
		at := test{strings.TrimPrefix(event.Package, module+"/internal/"), event.Test}
		switch event.Action {
		case "build-output":
			failed.WriteString(event.Output)
		case "pass", "skip":
			if event.Test != "" {
				results[at] = event.Action
			}
		case "fail":
			results[at] = event.Action
		}
	}
}

func printTable(packages []string, stock, ours map[test]string, allowed map[test]string) {
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "package\tOpenTofu "+version+"\twith Cotter\tallowed")
	for _, pkg := range packages {
		var reasons int
		for at := range allowed {
			if at.pkg == pkg {
				reasons++
			}
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\n", pkg, count(pkg, stock), count(pkg, ours), reasons)
	}
	_ = table.Flush()
}

func count(pkg string, results map[test]string) string {
	counts := make(map[string]int)
	for at, result := range results {
		if at.pkg == pkg && at.name != "" {
			counts[result]++
		}
	}
	return fmt.Sprintf("%d passed, %d failed, %d skipped", counts["pass"], counts["fail"], counts["skip"])
}

// differ reports whether a test has another result with Cotter and is not allowed to.
func differ(stock, ours, allowed map[test]string) bool {
	for at, was := range stock {
		if _, ok := allowed[at]; !ok && ours[at] != was {
			return true
		}
	}
	return false
}

// compare prints the tests with another result, and returns an error for those that are worse with
// Cotter and not allowed to be, and for those that are allowed and not worse.
func compare(stock, ours, allowed map[test]string) error {
	names := maps.Clone(stock)
	maps.Copy(names, ours)
	maps.Copy(names, allowed)
	var wrong int
	for _, at := range slices.SortedFunc(maps.Keys(names), func(a, b test) int { return strings.Compare(a.String(), b.String()) }) {
		was, is := cmp.Or(stock[at], "not run"), cmp.Or(ours[at], "not run")
		reason, ok := allowed[at]
		switch worse := is != was && is != "pass"; {
		case worse && !ok:
			reason = "NOT ALLOWED"
			wrong++
		case ok && is == "pass":
			reason = "ALLOWED WITHOUT NEED"
			wrong++
		case is == was:
			continue
		case was == "not run":
			reason = "a test of ours"
		}
		fmt.Printf("%s: %s, with Cotter %s: %s\n", at, was, is, reason)
	}
	if wrong > 0 {
		return fmt.Errorf("%d tests do not have the result that the file allowed says", wrong)
	}
	return nil
}

// readAllowed reads lines of a package, a test and the reason why it differs. A test that has such
// subtests differs because of them.
func readAllowed(name string) (map[test]string, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	allowed := make(map[test]string)
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.SplitN(line, " ", 3)
		if len(fields) != 3 {
			return nil, fmt.Errorf("%s: %q is not a package, a test and a reason", name, line)
		}
		allowed[test{fields[0], fields[1]}] = fields[2]
		if parent, _, ok := strings.Cut(fields[1], "/"); ok {
			allowed[test{fields[0], parent}] = "its subtests"
		}
	}
	return allowed, nil
}
