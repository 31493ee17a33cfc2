// Command executor runs HTTP requests and SSH commands for AI agents with
// credentials that the agents never see.
package main

import (
	"os"

	"executor/internal/cli"
)

func main() { os.Exit(cli.Main(cli.System())) }
