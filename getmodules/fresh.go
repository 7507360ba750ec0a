package getmodules

import "reflect"

// Fresh returns a Fetcher with the same settings that remembers nothing of earlier fetches, such as
// the refs of repositories, and whose fields may be changed. f may be in use, and is not changed. It
// is the way to copy a Fetcher, because a struct that is in use must not be copied. Programs with a
// installer.Installer do not need it to see new tags, because each run of an Installer asks again.
func (f *Fetcher) Fresh() *Fetcher {
	fresh := new(Fetcher)
	copyFields(reflect.ValueOf(fresh).Elem(), reflect.ValueOf(f).Elem())
	return fresh
}

// copyFields copies the exported fields of a struct, and those of its structs: the others are what it
// remembers, and must not be copied.
func copyFields(to, from reflect.Value) {
	for i := range from.NumField() {
		field := from.Type().Field(i)
		switch {
		case !field.IsExported():
		case field.Type.Kind() == reflect.Struct:
			copyFields(to.Field(i), from.Field(i))
		default:
			to.Field(i).Set(from.Field(i))
		}
	}
}
