package trunkgroup

import (
	"math/bits"
	"slices"
)

// blocks is a map from exact numbers to owners for very many numbers. Numbers
// that agree in all but the last 16 bits of their packed form share a block: a
// directory (open addressing) finds the block, a binary search over two-byte
// remainders finds the number. An entry takes six bytes.
type blocks struct {
	directory []block // power of two long, or empty
	shift     uint
	low       []uint16
	owner     []uint32
}

type block struct {
	key        uint64 // the shared bits + 1; 0 = empty slot
	start, end uint32 // of low and owner
}

const blockBits = 16

// hashMultiplier is 2^64 divided by the golden ratio (Knuth, TAOCP vol. 3,
// section 6.4): neighbouring blocks spread over the directory.
const hashMultiplier = 0x9E3779B97F4A7C15

// buildBlocks takes numbers that are sorted and differ.
func buildBlocks(exact []entry) blocks {
	if len(exact) == 0 {
		return blocks{}
	}
	b := blocks{low: make([]uint16, len(exact)), owner: make([]uint32, len(exact))}
	count := 0
	for i, e := range exact {
		b.low[i], b.owner[i] = uint16(e.number), e.owner
		if i == 0 || e.number>>blockBits != exact[i-1].number>>blockBits {
			count++
		}
	}
	size := 1 << bits.Len(uint(count+count/2)) // at most two thirds full
	b.directory = make([]block, size)
	b.shift = uint(64 - bits.Len(uint(size-1)))
	for i := 0; i < len(exact); {
		high, start := exact[i].number>>blockBits, i
		for i < len(exact) && exact[i].number>>blockBits == high {
			i++
		}
		b.insert(block{uint64(high) + 1, uint32(start), uint32(i)})
	}
	return b
}

func (b *blocks) insert(k block) {
	at := k.key * hashMultiplier >> b.shift
	for b.directory[at].key != 0 {
		at = (at + 1) & uint64(len(b.directory)-1)
	}
	b.directory[at] = k
}

func (b *blocks) find(n number) (uint32, bool) {
	if len(b.directory) == 0 {
		return 0, false
	}
	key := uint64(n>>blockBits) + 1
	at := key * hashMultiplier >> b.shift
	for b.directory[at].key != key {
		if b.directory[at].key == 0 {
			return 0, false
		}
		at = (at + 1) & uint64(len(b.directory)-1)
	}
	k := b.directory[at]
	i, found := slices.BinarySearch(b.low[k.start:k.end], uint16(n))
	if !found {
		return 0, false
	}
	return b.owner[int(k.start)+i], true
}
