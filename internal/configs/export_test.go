package configs

// Skimmed and Skim export skim for its comparison with the parser.
type Skimmed struct {
	Kind       string
	Labels     []string
	Header     string
	Start, End int
	MaySet     bool
}

func Skim(src []byte) ([]Skimmed, bool) {
	blocks, ok := skim(src, "x.tf")
	var exported []Skimmed
	for _, b := range blocks {
		exported = append(exported, Skimmed{b.kind, b.labels, b.header.String(), b.start, b.end, b.maySetProvider})
	}
	return exported, ok
}
