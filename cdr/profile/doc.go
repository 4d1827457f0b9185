// Package profile writes call records in the words of other systems: the columns that
// billing made for 46 Labs, Asterisk, FreeSWITCH, LibreSBC or CGRateS reads, as CSV or as
// JSON. The profile tandem has the words of package cdr.
//
// A column that the record has no value for is filled from the record's further field of
// the same name, so a route or a rule can supply what Tandem does not know, such as a rate
// centre. Begin at [Profile]; the columns are in the files named after the systems.
//
// The package is pure.
package profile
