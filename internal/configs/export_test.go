package configs

// Skimmed and Skim export the skimmer, so that tests can compare it with the parser.
type Skimmed struct {
	Kind       string
	Labels     []string
	Header     string
	Start, End int
	MaySet     bool
	// Source is the value of the block's argument "source", or "" unless it is a plain string.
	Source string
}

func Skim(src []byte) ([]Skimmed, bool) {
	blocks, ok := skim(src, "x.tf")
	var exported []Skimmed
	for _, b := range blocks {
		source := b.source
		if b.sources != 1 {
			source = ""
		}
		exported = append(exported, Skimmed{b.kind, b.labels, b.header.String(), b.start, b.end, b.maySetProvider, source})
	}
	return exported, ok
}
