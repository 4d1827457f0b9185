package transport

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// The instructions of the kernel's classic packet filter that the sieve is made of.
const (
	loadWord   = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	loadByte   = unix.BPF_LD | unix.BPF_B | unix.BPF_ABS
	loadLength = unix.BPF_LD | unix.BPF_W | unix.BPF_LEN
	ifEqual    = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	ifAbove    = unix.BPF_JMP | unix.BPF_JGT | unix.BPF_K
	ifAtLeast  = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
	give       = unix.BPF_RET | unix.BPF_K
	whole      = 1<<32 - 1
	chance     = 1<<32 - 0x1000 + 56 // SKF_AD_OFF + SKF_AD_RANDOM: 32 random bits
)

const (
	sieveBegin = 8 + len("INVITE sip:") // behind the UDP header, which the filter sees
	sieveUser  = 48                     // characters of a user that it reads
)

// Sieve lets the kernel keep a share, 0 to 1, of the INVITEs that may begin a call from the UDP sockets, before they cost anything
// here; 1 ends that. Everything else comes through: other requests and responses, INVITEs inside dialogs of ours, whose Request-URI
// is a Contact without user, those whose user ends like an emergency number or has parameters, and whatever is not recognised.
func (s *Set) Sieve(share float64) error {
	for _, l := range s.listeners {
		for _, u := range l.udp {
			if err := u.sieve(share); err != nil {
				return fmt.Errorf("udp %s: packet filter: %w", u.local, err)
			}
		}
	}
	return nil
}

func (u *udpSocket) sieve(share float64) error {
	var failed error
	err := u.raw.Control(func(fd uintptr) {
		if share >= 1 {
			failed = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_DETACH_FILTER, 0)
			if failed == unix.ENOENT {
				failed = nil // there was none
			}
			return
		}
		program := sieveProgram(uint32(share * whole))
		failed = unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER,
			&unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]})
	})
	if err != nil {
		return err
	}
	return failed
}

// sieveProgram looks for the first '@' of an INVITE's Request-URI. The language has no loops: each character has its own block.
func sieveProgram(keep uint32) []unix.SockFilter {
	op := func(code int, k uint32, jumps ...uint8) unix.SockFilter {
		f := unix.SockFilter{Code: uint16(code), K: k}
		if len(jumps) == 2 {
			f.Jt, f.Jf = jumps[0], jumps[1]
		}
		return f
	}
	word := func(s string) uint32 {
		return uint32(s[0])<<24 | uint32(s[1])<<16 | uint32(s[2])<<8 | uint32(s[3])
	}
	p := []unix.SockFilter{
		op(loadLength, 0),
		op(ifAtLeast, uint32(sieveBegin+sieveUser+8), 1, 0), op(give, whole), // reading past the end would drop it
		op(loadWord, 8), op(ifEqual, word("INVI"), 1, 0), op(give, whole),
		op(loadWord, 12), op(ifEqual, word("TE s"), 1, 0), op(give, whole),
	}
	for i := uint32(sieveBegin); i < uint32(sieveBegin+sieveUser); i++ {
		p = append(p,
			op(loadByte, i),
			op(ifEqual, ' ', 2, 0), op(ifEqual, ';', 1, 0), op(ifEqual, '@', 1, 10),
			op(give, whole), // no user, or one with parameters
			op(loadWord, i-3),
			op(ifEqual, word("911@"), 5, 0), op(ifEqual, word("112@"), 4, 0), op(ifEqual, word("999@"), 3, 0), op(ifEqual, word("000@"), 2, 0),
			op(loadWord, chance), op(ifAbove, keep, 1, 0),
			op(give, whole),
			op(give, 0),
		)
	}
	return append(p, op(give, whole))
}
