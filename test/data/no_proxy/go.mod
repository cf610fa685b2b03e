module noproxy

go 1.25.0

require golang.org/x/net v0.56.0

require golang.org/x/text v0.39.0 // indirect
