package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
)

const (
	// source is the provider's address. It names a host so that OpenTofu, whose own host is another, looks here too.
	source = "registry.terraform.io/hashicorp/google"
	// schemaFile stands beside the provider.
	schemaFile = "schema.json"
	// program is what the provider's file is called, before its version.
	program = "terraform-provider-google"
)

func main() {
	run := func() error { return build(os.Args[1:]) }
	if strings.HasPrefix(filepath.Base(os.Args[0]), program) {
		run = serve
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "tfmirror:", err)
		os.Exit(1)
	}
}

// build makes the mirror.
func build(args []string) error {
	flags := flag.NewFlagSet("tfmirror", flag.ContinueOnError)
	bindings := flags.String("bindings", "node_modules/@cdktf/provider-google", "where npm put the provider's bindings")
	uses := flags.String("for", "../../terraform", "the configurations whose types are taken")
	mirror := flags.String("mirror", "", "the directory of the mirror")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *mirror == "" || flags.NArg() > 0 {
		return errors.New("name a directory with -mirror, and nothing else")
	}
	version, err := versionOf(*bindings)
	if err != nil {
		return fmt.Errorf("%w (hint: tools/install-packages)", err)
	}
	names, err := usesIn(*uses)
	if err != nil {
		return err
	}
	s, err := extract(*bindings, names)
	if err != nil {
		return err
	}
	dir := filepath.Join(*mirror, filepath.FromSlash(source), version, runtime.GOOS+"_"+runtime.GOARCH)
	if err := write(dir, version, s); err != nil {
		return err
	}
	fmt.Printf("tfmirror: %s %s, %d types of resources, %d of data\n", source, version, len(s.Resources), len(s.DataSources))
	return nil
}

var versionText = regexp.MustCompile(`providerVersion: '([0-9.]+)'`)

// versionOf is the provider's version that the bindings were made of; they have one of their own besides.
func versionOf(bindings string) (string, error) {
	text, err := os.ReadFile(filepath.Join(bindings, "lib", "provider", "index.js"))
	if err != nil {
		return "", err
	}
	m := versionText.FindSubmatch(text)
	if m == nil {
		return "", errors.New("the bindings do not say which version of the provider they are of")
	}
	return string(m[1]), nil
}

// write puts the schema and a copy of this program into the provider's place. The copy gets another name first: a
// program that runs cannot be written over.
func write(dir, version string, s schema) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	text, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, schemaFile), text, 0o644); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	from, err := os.Open(self)
	if err != nil {
		return err
	}
	defer from.Close()
	name := filepath.Join(dir, program+"_v"+version)
	to, err := os.OpenFile(name+".new", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	if err = errors.Join(err, to.Close()); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}
