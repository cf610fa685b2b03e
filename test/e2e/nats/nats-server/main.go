// nats-server, with the flags and the configuration of the original program, of which only the package of the server is used.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/nats-io/nats-server/v2/server"
)

func main() {
	flags := flag.NewFlagSet("nats-server", flag.ExitOnError)
	options, err := server.ConfigureOptions(flags, os.Args[1:], server.PrintServerAndExit, flags.Usage,
		server.PrintTLSHelpAndDie)
	if err != nil {
		fail(err)
	}
	if options == nil {
		return
	}
	node, err := server.NewServer(options)
	if err != nil {
		fail(err)
	}
	node.ConfigureLogger()
	if err := server.Run(node); err != nil {
		fail(err)
	}
	node.WaitForShutdown()
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "nats-server:", err)
	os.Exit(1)
}
