package getmodules

import "reflect"

// Fresh returns a Fetcher with the same settings that remembers nothing of earlier fetches, and whose
// fields may be changed. It is the way to copy a Fetcher, also while f is in use. Programs with an
// installer.Installer, whose every run asks again, do not need it to see new tags.
func (f *Fetcher) Fresh() *Fetcher {
	fresh := new(Fetcher)
	copyFields(reflect.ValueOf(fresh).Elem(), reflect.ValueOf(f).Elem())
	return fresh
}

// copyFields copies exported fields, also of structs in them; the others must not be copied.
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
