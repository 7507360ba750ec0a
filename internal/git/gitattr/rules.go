package gitattr

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/git/wildmatch"
)

const FileName = ".gitattributes"

const (
	// MaxFileBytes bounds one file. Git's own limit is 100 MiB.
	MaxFileBytes = 1 << 20
	// maxRules is for one commit. Repositories that list single files have a few thousand.
	maxRules = 20_000
	// maxSteps is for one commit. A simple pattern takes one step for each file.
	maxSteps = 1 << 30
)

var ErrTooLarge = errors.New("the git attributes are too large")

// Rules are those of one commit. A nil *Rules has none.
type Rules struct {
	dirs   map[string][]rule // by the directory of the file; "" is the top directory
	macros map[string][]assignment
	count  int
	work   wildmatch.Matcher
}

var builtinMacros = map[string][]assignment{
	"binary": {{name: attrText, value: value{state: isUnset}}},
}

// Parse gets the files by their directories; "" is the top one. Errors wrap [ErrTooLarge].
func Parse(files map[string][]byte) (*Rules, error) {
	r := &Rules{dirs: map[string][]rule{}, macros: map[string][]assignment{}}
	maps.Copy(r.macros, builtinMacros)
	// The top directory comes first, because its macros apply everywhere.
	for _, dir := range slices.Sorted(maps.Keys(files)) {
		content := files[dir]
		if len(content) > MaxFileBytes {
			return nil, fmt.Errorf("%w: %q has more than %d bytes", ErrTooLarge, path.Join(dir, FileName), MaxFileBytes)
		}
		rules, macros := parse(string(content))
		if dir == "" {
			maps.Copy(r.macros, macros)
		}
		rules = slices.DeleteFunc(rules, func(x rule) bool { return !slices.ContainsFunc(x.sets, r.counts) })
		if r.count += len(rules); r.count > maxRules {
			return nil, fmt.Errorf("%w: more than %d rules", ErrTooLarge, maxRules)
		}
		r.dirs[dir] = rules
	}
	return r, nil
}

func (r *Rules) counts(set assignment) bool {
	switch set.name {
	case attrText, attrCRLF, attrEOL, attrIdent, attrEncoding:
		return true
	}
	_, isMacro := r.macros[set.name]
	return isMacro
}

// Conversion returns an error that wraps [ErrTooLarge], or says that git refuses the attributes.
func (r *Rules) Conversion(name string) (Conversion, error) {
	if r == nil || r.count == 0 {
		return Conversion{}, nil
	}
	found, err := r.attributes(name)
	if err != nil {
		return Conversion{}, err
	}
	return newConversion(found)
}

// attributes lets closer directories and later lines take precedence.
func (r *Rules) attributes(name string) (map[string]value, error) {
	found := map[string]value{}
	for dir := parent(name); ; dir = parent(dir) {
		rules := r.dirs[dir]
		below := strings.TrimPrefix(name[len(dir):], "/")
		for i := len(rules) - 1; i >= 0; i-- {
			if rules[i].pattern.Matches(below, &r.work) {
				r.assign(found, rules[i].sets)
			}
			if r.work.Steps > maxSteps {
				return nil, fmt.Errorf("%w: their patterns take too long to match", ErrTooLarge)
			}
		}
		if dir == "" {
			return found, nil
		}
	}
}

func parent(name string) string {
	return name[:max(0, strings.LastIndexByte(name, '/'))]
}

func (r *Rules) assign(found map[string]value, sets []assignment) {
	r.work.Steps += len(sets)
	for i := len(sets) - 1; i >= 0; i-- {
		set := sets[i]
		if _, ok := found[set.name]; ok {
			continue
		}
		found[set.name] = set.value
		if set.value.state != isSet {
			continue
		}
		r.assign(found, r.macros[set.name])
	}
}
