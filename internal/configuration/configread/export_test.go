package configread

type ScannedBlock struct {
	Kind       string
	Labels     []string
	Header     string
	Start, End int
	MaySet     bool
	// Source is the value of the block's argument "source", or "" unless it is a plain string.
	Source string
}

var ReduceJSON = reduceJSON

func ScanBlocks(src []byte) ([]ScannedBlock, bool) {
	blocks, ok := scanBlocks(src, "x.tf")
	var exported []ScannedBlock
	for _, b := range blocks {
		source := b.source
		if b.sources != 1 {
			source = ""
		}
		exported = append(exported, ScannedBlock{b.kind, b.labels, b.header.String(), b.start, b.end, b.maySetProvider, source})
	}
	return exported, ok
}
