// Package records has what commands report, as values: a line of the JSON output is one of them ([All]), and
// texts are made from the same values. Functions make them of the results of the library, and describe
// releases and changes of lock entries in words. The package prints nothing and knows no command; what an error
// means is in package advice.
package records
