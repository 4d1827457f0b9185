package app

import (
	"time"

	"github.com/tandem-sbc/tandem/cluster"
	"github.com/tandem-sbc/tandem/internal/config"
)

// ErrNoDocument is returned by Rescue for a data directory without a document.
var ErrNoDocument = cluster.ErrNoDocument

// Rescued is a document as a disk holds it.
type Rescued struct {
	Cluster    string    `json:"cluster"`
	Generation uint64    `json:"generation"`
	Revision   uint64    `json:"revision"`
	Author     string    `json:"author"`
	Reason     string    `json:"reason"`
	At         time.Time `json:"at"`
	Document   string    `json:"document"`
}

// Rescue reads the last known good document of a node that does not run, with the keys that its
// node file names. It changes nothing.
func Rescue(cfg *config.Config) (Rescued, error) {
	trust, err := loadTrust(cfg)
	if err != nil {
		return Rescued{}, err
	}
	e, err := cluster.DocumentOf(cfg.DataDir, trust.keys)
	return Rescued{
		Cluster: e.Version.Cluster, Generation: e.Version.Generation, Revision: e.Version.Revision,
		Author: e.Author, Reason: e.Reason, At: e.At.UTC(), Document: string(e.Document),
	}, err
}
