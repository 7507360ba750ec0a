package view

import (
	"cmp"
	"slices"
	"strings"
)

const MaxSuggested = 3

// Nearest returns at most MaxSuggested known words that resemble a word, the most similar first.
func Nearest(word string, known []string) []string {
	type candidate struct {
		word     string
		distance int
	}
	var found []candidate
	for _, other := range known {
		d := editDistance(strings.ToLower(word), strings.ToLower(other))
		if d <= max(1, min(len(word), len(other))/3) && other != word {
			found = append(found, candidate{other, d})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), strings.Compare(a.word, b.word))
	})
	var words []string
	for _, c := range found[:min(len(found), MaxSuggested)] {
		if !slices.Contains(words, c.word) {
			words = append(words, c.word)
		}
	}
	return words
}

// DidYouMean returns a question with the words, or "" if there are none.
func DidYouMean(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return "Did you mean " + Alternatives(words) + "?"
}

// editDistance counts edits that turn one word into another: inserted, removed, replaced and swapped
// characters. Words that are too long to compare have a large distance.
func editDistance(from, to string) int {
	const longest = 256
	a, b := []rune(from), []rune(to)
	if len(a) > longest || len(b) > longest {
		return longest
	}
	// rows[i][j] is the distance of the first i characters of a to the first j of b.
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			replaced := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				replaced++
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, replaced)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
