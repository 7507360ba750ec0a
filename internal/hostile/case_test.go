package hostile_test

import "iter"

// Case is one input.
type Case[T any] struct {
	// Class is the name of a row of [Table].
	Class string
	// Name tells the inputs of a class apart.
	Name  string
	Input T
}

// Verdict is what has to become of an input.
type Verdict int

const (
	// Refused is an error, which leaves nothing behind.
	Refused Verdict = iota
	// Accepted is no error: the input looks bad and does no harm, or is there
	// to show that its neighbours are not refused by accident.
	Accepted
	// Unportable is accepted with a warning where the file system can hold it,
	// and refused where portable names are demanded.
	Unportable
	// LeftOut is accepted without it, with a warning: what is written has no part
	// of it.
	LeftOut
)

func (v Verdict) String() string {
	return [...]string{"refused", "accepted", "unportable", "left out"}[v]
}

// Class is a row of [Table].
type Class struct {
	Name    string
	Verdict Verdict
	// Why completes the sentence "It is refused (or accepted) because ...".
	Why string
}

// texts are cases whose name is their text.
func texts(byClass []list) iter.Seq[Case[string]] {
	return func(yield func(Case[string]) bool) {
		for _, l := range byClass {
			for _, text := range l.texts {
				if !yield(Case[string]{l.class, label(text), text}) {
					return
				}
			}
		}
	}
}

// list is a class with the texts that belong to it.
type list struct {
	class string
	texts []string
}
