package provider

// Hashes is for tests.
var Hashes = hashes
