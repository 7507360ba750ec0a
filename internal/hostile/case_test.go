package hostile_test

import "iter"

type Case[T any] struct {
	// Class is the name of a row of [Table].
	Class string
	// Name distinguishes the inputs of a class.
	Name  string
	Input T
}

type Verdict int

const (
	// Refused means that there is an error and no files are left.
	Refused Verdict = iota
	// Accepted means that there is no error: the input looks bad but does no harm, or it shows
	// that similar inputs are not refused by accident.
	Accepted
	// Unportable means that the input is accepted with a warning if the file system can store it,
	// and refused if portable names are required.
	Unportable
	// Warned means that the input is accepted everywhere, with a warning.
	Warned
	// LeftOut means that the rest of the package is accepted with a warning, and the input is not
	// written.
	LeftOut
)

func (v Verdict) String() string {
	return [...]string{"refused", "accepted", "unportable", "warned of", "left out"}[v]
}

type Class struct {
	Name    string
	Verdict Verdict
	// Why completes the sentence "It is refused (or accepted) because ...".
	Why string
}

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

type list struct {
	class string
	texts []string
}
