package vendordir

// ParseRecord parses a record and returns it as it would be written again.
func ParseRecord(text []byte) ([]byte, error) {
	r, err := parseRecord(text)
	return r.text(), err
}
