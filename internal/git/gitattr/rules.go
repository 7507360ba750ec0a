package gitattr

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// FileName is the name of files with attributes.
const FileName = ".gitattributes"

const (
	// MaxFileBytes bounds the size of one .gitattributes file. Git's own limit is 100 MiB.
	MaxFileBytes = 1 << 20
	// maxRules bounds the number of rules of one commit. Repositories that list single files
	// have a few thousand.
	maxRules = 20_000
	// maxSteps bounds the work of matching the files of one commit. A simple pattern takes one
	// step for each file.
	maxSteps = 1 << 30
)

// ErrTooLarge means that the attributes exceed one of this package's limits.
var ErrTooLarge = errors.New("the git attributes are too large")

// Rules are the rules in the .gitattributes files of one commit. A nil *Rules is valid and has
// no rules.
type Rules struct {
	dirs   map[string][]rule // by the directory of the file; "" is the top directory
	macros map[string][]assignment
	count  int
	work   matcher
}

// builtinMacros are the macros that git defines.
var builtinMacros = map[string][]assignment{
	"binary": {{name: attrText, value: value{state: isUnset}}},
}

// Parse parses the .gitattributes files of one commit. The keys are the slash-separated paths
// of their directories; "" is the top directory. Errors wrap [ErrTooLarge].
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

// counts reports whether an assignment can affect content.
func (r *Rules) counts(set assignment) bool {
	switch set.name {
	case attrText, attrCRLF, attrEOL, attrIdent, attrEncoding:
		return true
	}
	_, isMacro := r.macros[set.name]
	return isMacro
}

// Conversion returns the conversion for the file with this path. The error is about the
// attributes: it wraps [ErrTooLarge], or says that git refuses them.
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

// attributes returns the attributes of a path. Rules in directories closer to the file take
// precedence, and later lines take precedence over earlier ones.
func (r *Rules) attributes(name string) (map[string]value, error) {
	found := map[string]value{}
	for dir := parent(name); ; dir = parent(dir) {
		rules := r.dirs[dir]
		below := strings.TrimPrefix(name[len(dir):], "/")
		for i := len(rules) - 1; i >= 0; i-- {
			if rules[i].pattern.matches(below, &r.work) {
				r.assign(found, rules[i].sets)
			}
			if r.work.steps > maxSteps {
				return nil, fmt.Errorf("%w: their patterns take too long to match", ErrTooLarge)
			}
		}
		if dir == "" {
			return found, nil
		}
	}
}

// parent returns the directory of a path; "" is the top directory.
func parent(name string) string {
	return name[:max(0, strings.LastIndexByte(name, '/'))]
}

// assign sets the attributes that have no value yet. If an attribute that is set is a macro,
// the assignments of the macro follow.
func (r *Rules) assign(found map[string]value, sets []assignment) {
	r.work.steps += len(sets)
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
