module github.com/cgrates/aringo

go 1.26.0
