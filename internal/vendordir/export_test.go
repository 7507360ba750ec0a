package vendordir

// ParseRecord returns the text of a record as it is written again.
func ParseRecord(text []byte) ([]byte, error) {
	r, err := parseRecord(text)
	return r.text(), err
}
