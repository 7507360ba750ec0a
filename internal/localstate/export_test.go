package localstate

// Parse is exported for tests.
var Parse = parse
