package main

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/tandem-sbc/tandem/cluster/pki"
	"github.com/tandem-sbc/tandem/internal/config"
)

// Names of the files that the commands below read and write.
const (
	caCertFile  = "ca.pem"
	caKeyFile   = "ca.key"
	clusterFile = "cluster.key"
)

func (c *cli) caCommand() *cobra.Command {
	var cluster, dir string
	create := &cobra.Command{
		Use: "init --cluster ID --dir DIR", Short: "Make the authority that signs the certificates of nodes",
		Long: `Writes ca.pem, which every node gets (cluster.tls.ca), and ca.key, which is the power to make any node: keep it
off the nodes, or on the one or two that admit new ones by join tokens. The authority can sign for this cluster only.`,
		Example: "  tandem cluster ca init --cluster example --dir tandem-ca",
		Args:    arguments(),
		RunE: action(func(*cobra.Command, []string) error {
			if !config.IsName(cluster) || dir == "" {
				return usage("for example --cluster example --dir tandem-ca; the id is cluster.id of the node files", "--cluster and --dir are needed")
			}
			cert, key, err := pki.NewAuthority(cluster, time.Now())
			if err != nil {
				return err
			}
			return c.writeFiles(dir, false, moveAway, file{caCertFile, cert, 0o644}, file{caKeyFile, key, 0o600})
		}),
	}
	create.Flags().StringVar(&cluster, "cluster", "", "id of the cluster, as in cluster.id of the node files")
	create.Flags().StringVar(&dir, "dir", "", "where to write")
	return group("ca", "The cluster's own authority", create)
}

func (c *cli) certCommand() *cobra.Command {
	var ca, dir string
	var days int
	var force bool
	cmd := &cobra.Command{
		Use: "cert NODE --ca DIR --dir DIR", Short: "Make the certificate of a node",
		Long: `Writes NODE.pem and NODE.key for cluster.tls.cert and cluster.tls.key of the node of that name, signed by the authority
in the directory of tandem cluster ca init. To renew one, make it with --force and copy both files to the node: it takes them within seconds,
and no call is touched.`,
		Example: "  tandem cluster cert dal-1 --ca tandem-ca --dir nodes",
		Args:    arguments("NODE"),
		RunE: action(func(_ *cobra.Command, args []string) error {
			if !config.IsName(args[0]) || ca == "" || dir == "" || days < 1 {
				return usage("for example tandem cluster cert dal-1 --ca tandem-ca --dir .", "a name of a node, --ca and --dir are needed")
			}
			a, err := openAuthority(ca)
			if err != nil {
				return err
			}
			if a.Cluster() == "" {
				return fail(exitFailed, "make one with tandem cluster ca init, or have yours sign a certificate for NODE.CLUSTER.tandem.internal", "the authority in %s is not of a cluster", ca)
			}
			cert, key, err := a.Issue(a.Cluster(), args[0], time.Duration(days)*24*time.Hour, time.Now())
			if err != nil {
				return err
			}
			return c.writeFiles(dir, force, "--force renews it", file{args[0] + ".pem", cert, 0o644}, file{args[0] + ".key", key, 0o600})
		}),
	}
	cmd.Flags().StringVar(&ca, "ca", "", "directory with ca.pem and ca.key")
	cmd.Flags().StringVar(&dir, "dir", "", "where to write")
	cmd.Flags().IntVar(&days, "days", int(pki.NodeLife/(24*time.Hour)), "life of the certificate")
	cmd.Flags().BoolVar(&force, "force", false, "replace files that are there")
	return cmd
}

func openAuthority(dir string) (*pki.Authority, error) {
	cert, err := os.ReadFile(filepath.Join(dir, caCertFile))
	if err != nil {
		return nil, fail(exitNotFound, "tandem cluster ca init makes one", "authority: %w", err)
	}
	key, err := config.ReadPrivate(filepath.Join(dir, caKeyFile))
	if err != nil {
		return nil, fail(exitFailed, "the key stays where tandem cluster ca init was run", "authority: %w", err)
	}
	return pki.ParseAuthority(cert, key)
}

// file is one to be written.
type file struct {
	name string
	text []byte
	mode os.FileMode
}

// written is a file that was made, as it is shown.
type written struct {
	File        string     `json:"file"`
	Until       *time.Time `json:"until,omitempty"`
	Fingerprint string     `json:"fingerprint,omitempty"`
}

// writeFiles writes files into a directory, which it makes, and shows what they are. None is replaced without force.
func (c *cli) writeFiles(dir string, force bool, hint string, files ...file) error {
	if err := clearFor(dir, force, hint, files...); err != nil {
		return err
	}
	var list []written
	for _, f := range files {
		path := filepath.Join(dir, f.name)
		var err error
		if f.mode == 0o600 {
			err = writePrivate(path, f.text)
		} else {
			err = writeWhole(path, f.text, f.mode, -1, -1)
		}
		if err != nil {
			return err
		}
		w := written{File: path}
		if block, _ := pem.Decode(f.text); block != nil && block.Type == "CERTIFICATE" {
			if cert, err := x509.ParseCertificate(block.Bytes); err == nil {
				w.Until, w.Fingerprint = &cert.NotAfter, pki.Fingerprint(cert)
			}
		}
		list = append(list, w)
	}
	return c.print(list, func() *table {
		t := &table{head: []string{"FILE", "UNTIL", "FINGERPRINT"}}
		for _, w := range list {
			t.add(w.File, moment(w.Until), w.Fingerprint)
		}
		return t
	})
}

// moveAway is the hint where nothing is replaced.
const moveAway = "move it away, or name another directory"

// clearFor makes a directory and fails, with the hint, when one of the files is there already.
func clearFor(dir string, force bool, hint string, files ...file) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, f := range files {
		path := filepath.Join(dir, f.name)
		if _, err := os.Lstat(path); !force && !errors.Is(err, fs.ErrNotExist) {
			return fail(exitFailed, hint, "%s is there already", path)
		}
	}
	return nil
}

// section is the part of a node file that names what a node was given.
func section(cluster, dir, node string) string {
	at := func(name string) string { return filepath.Join(dir, name) }
	return fmt.Sprintf("cluster:\n  id: %s\n  key_file: %q\n  tls: {cert: %q, key: %q, ca: %q}\n",
		cluster, at(clusterFile), at(node+".pem"), at(node+".key"), at(caCertFile))
}
