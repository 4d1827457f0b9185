// Command terraform-provider-tandem is the Terraform provider of Tandem. Terraform and
// OpenTofu start it; docs/terraform-provider.md says how to use it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"

	"github.com/tandem-sbc/tandem/terraform/provider/internal/provider"
)

// version is the release, set by the linker.
var version = "devel"

func main() {
	debug := flag.Bool("debug", false, "wait for a debugger")
	flag.Parse()
	err := providerserver.Serve(context.Background(), provider.New(version), providerserver.ServeOpts{Address: provider.Address, Debug: *debug})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
