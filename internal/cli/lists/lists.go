// Package lists has what the standard library lacks for slices.
package lists

import "slices"

// Map converts each element. It never returns nil, which is null in JSON.
func Map[T, U any](list []T, convert func(T) U) []U {
	all := make([]U, len(list))
	for i, one := range list {
		all[i] = convert(one)
	}
	return all
}

// GroupBy returns lists of the elements with the same key, in the order of their first elements.
func GroupBy[T any, K comparable](list []T, keyOf func(T) K) (groups [][]T) {
	index := make(map[K]int)
	for _, one := range list {
		key := keyOf(one)
		i, ok := index[key]
		if !ok {
			i, groups = len(groups), append(groups, nil)
			index[key] = i
		}
		groups[i] = append(groups[i], one)
	}
	return groups
}

// Distinct sorts a list, and leaves out what is in it twice.
func Distinct(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// WithEach returns a copy of a list of which each element is changed.
func WithEach[T any](list []T, change func(*T)) []T {
	list = slices.Clone(list)
	for i := range list {
		change(&list[i])
	}
	return list
}
