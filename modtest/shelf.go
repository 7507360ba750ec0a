package modtest

import (
	"io/fs"
	"maps"
	"slices"
	"sync"
)

// shelf has values by name and version.
type shelf[V any] struct {
	mu  sync.Mutex
	all map[string]map[string]V
}

// put passes the zero value for a new version.
func (s *shelf[V]) put(name, version string, value func(old V) V) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[string]map[string]V{}
	}
	if s.all[name] == nil {
		s.all[name] = map[string]V{}
	}
	s.all[name][version] = value(s.all[name][version])
}

// change returns [fs.ErrNotExist] if there is no such version.
func (s *shelf[V]) change(name, version string, do func(versions map[string]V)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.all[name][version]; !ok {
		return fs.ErrNotExist
	}
	do(s.all[name])
	return nil
}

func (s *shelf[V]) withdraw(name, version string) error {
	return s.change(name, version, func(versions map[string]V) { delete(versions, version) })
}

func (s *shelf[V]) get(name, version string) (V, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	value, ok := s.all[name][version]
	return value, ok
}

// list returns the versions, oldest first, with their values, and whether the name is known.
func (s *shelf[V]) list(name string) (versions []string, values []V, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all, known := s.all[name]
	versions = slices.SortedFunc(maps.Keys(all), func(a, b string) int { return compareVersions("v"+a, "v"+b) })
	for _, version := range versions {
		values = append(values, all[version])
	}
	return versions, values, known
}

func (s *shelf[V]) names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.all))
}
