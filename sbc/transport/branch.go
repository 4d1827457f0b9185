package transport

import "bytes"

var branchKey = []byte("branch=")

// BranchOf returns a copy of the branch of the first Via of a message that we built ourselves: our own spelling, Via first. It
// works on the first bytes of a message too; a branch that may be cut off is none.
func BranchOf(data []byte) []byte {
	i := bytes.Index(data, branchKey)
	if i < 0 {
		return nil
	}
	branch := data[i+len(branchKey):]
	end := bytes.IndexAny(branch, ";,\r\n ")
	if end <= 0 {
		return nil
	}
	return bytes.Clone(branch[:end])
}
