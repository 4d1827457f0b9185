module github.com/cgrates/kamevapi

go 1.26.0
