package admin

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

// Vault copies the configuration log out and puts it back.
type Vault interface {
	// Backup returns the whole log as one file.
	Backup(ctx context.Context) ([]byte, error)
	// Restore puts a document of a backup into force. Errors: ErrInvalid for a file that is none, ErrNotFound, and those of Config.Apply.
	Restore(ctx context.Context, r Restoration) (Applied, error)
}

// Restoration says what of a backup is put into force.
type Restoration struct {
	File           []byte
	Revision       uint64 // of the backup; 0 for the one that was in force
	Author, Reason string
	DryRun         bool // only check the file
}

func (s *Server) registerVault(api huma.API) {
	huma.Register(api, operation(http.MethodGet, "/v1/config/backup", "backup-config", "The whole configuration log as one file"), s.backup)
	restore := operation(http.MethodPost, "/v1/config/restore", "restore-config", "Put a document of a backup into force",
		http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity, http.StatusServiceUnavailable)
	restore.MaxBodyBytes = 4 * s.cfg.MaxDocument
	huma.Register(api, restore, s.restore)
}

// backupReply is the answer of backup-config.
type backupReply struct {
	ContentType string `header:"Content-Type"`
	Body        []byte
}

func (s *Server) backup(ctx context.Context, _ *struct{}) (*backupReply, error) {
	file, err := s.cfg.Backend.Vault.Backup(ctx)
	if err != nil {
		return nil, s.problem(ctx, err)
	}
	return &backupReply{ContentType: "application/octet-stream", Body: file}, nil
}

// restoreInput is the request of restore-config. The body is the file.
type restoreInput struct {
	Revision uint64 `query:"revision" doc:"Of the backup; 0 for the one that was in force."`
	Author   string `query:"author" maxLength:"256"`
	Reason   string `query:"reason" maxLength:"256"`
	DryRun   bool   `query:"dry_run" doc:"Only check the file."`
	RawBody  []byte `contentType:"application/octet-stream"`
}

func (s *Server) restore(ctx context.Context, in *restoreInput) (*reply[Applied], error) {
	s.audit(ctx, "configuration restore", in.Author, "reason", in.Reason, "bytes", len(in.RawBody), "dry_run", in.DryRun)
	return answer(ctx, s, func(ctx context.Context) (Applied, error) {
		return s.cfg.Backend.Vault.Restore(ctx, Restoration{
			File: in.RawBody, Revision: in.Revision, Author: in.Author, Reason: in.Reason, DryRun: in.DryRun,
		})
	})
}
