package mask

import "slices"

// Clusters are the hits in a stream so far, those that overlap made one, by
// place. A cluster is named for the longest hit in it, the first of equals.
type clusters []hit

func (l *clusters) add(h hit) {
	c := *l
	i := len(c)
	for i > 0 && c[i-1].end > h.start {
		i--
	}
	j := i
	for ; j < len(c) && c[j].start < h.end; j++ {
		h = merge(c[j], h)
	}
	*l = slices.Replace(c, i, j, h)
}

func merge(a, b hit) hit {
	m := a
	if b.length > a.length {
		m = b
	}
	m.start, m.end = min(a.start, b.start), max(a.end, b.end)
	return m
}
