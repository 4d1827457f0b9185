package trunkgroup

import (
	"fmt"
	"slices"
	"strings"
)

// Suggest returns a remedy for an unknown word: the nearest known word when one
// is near enough, else the known words when they are few.
func Suggest(word string, known []string) string {
	if near := nearest(word, known); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	if n := len(known); n == 0 || n > 16 {
		return ""
	}
	sorted := slices.Sorted(slices.Values(known))
	return "use one of: " + strings.Join(sorted, ", ")
}

// nearest returns the known word with the fewest edits from word, when these
// are at most a third of its length.
func nearest(word string, known []string) string {
	best, bestDistance := "", max(1, len(word)/3)+1
	if len(word) > 64 {
		return ""
	}
	for _, k := range known {
		if len(k) > 64 {
			continue
		}
		if d := distance(strings.ToLower(word), strings.ToLower(k)); d < bestDistance {
			best, bestDistance = k, d
		}
	}
	return best
}

// distance is the optimal string alignment distance: insertions, deletions,
// substitutions, and swaps of neighbours.
func distance(a, b string) int {
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := range len(a) {
		before, last, now := rows[0], rows[1], rows[2]
		now[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			now[j+1] = min(last[j+1]+1, now[j]+1, last[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				now[j+1] = min(now[j+1], before[j-1]+1)
			}
		}
		rows = [3][]int{last, now, before}
	}
	return rows[1][len(b)]
}
