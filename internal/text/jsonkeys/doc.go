// Package jsonkeys decodes JSON that programs cannot read in two ways. Of a key that occurs twice, most
// programs use the last value and some the first. [encoding/json] takes "LAYERS" for "layers", and other
// programs do not. So a scanner can see another document than Cotter installs.
//
// An object is refused if two of its keys are the same to encoding/json and a field is decoded from them.
// One key in another case is accepted, as in stock tools. The keys of maps, such as annotations, may differ
// in case, but none may occur twice. Objects that are not decoded can have any keys.
//
// A text is also refused, before it is decoded, if its values would take much more memory than the text.
//
// The check is one pass over the text, which allocates only for maps.
package jsonkeys
