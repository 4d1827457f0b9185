package admin

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

// MemberEditor adds and removes members at run time (K-27 add, remove): an edit of the cluster document, so it is in the history and rolled
// back like any other.
type MemberEditor interface {
	// AddMember errors: trunkgroup.Faults, ErrNotFound, ErrRefused, *ConflictError, ErrUnavailable.
	AddMember(ctx context.Context, group string, m NewMember) (Applied, error)
	// RemoveMember errors: the same.
	RemoveMember(ctx context.Context, group, member string, o MemberRemoval) (Applied, error)
}

// NewMember is the body of POST /v1/members/{group}. What is left out is as the document has it by default.
type NewMember struct {
	ID         string `json:"id" maxLength:"128"`
	Site       string `json:"site" maxLength:"128"`
	Address    string `json:"address,omitempty" maxLength:"64" doc:"ip:port"`
	FQDN       string `json:"fqdn,omitempty" maxLength:"260" doc:"In place of an address: a name, or name:port."`
	Transport  string `json:"transport,omitempty" enum:"udp,tcp,tls"`
	ServerName string `json:"server_name,omitempty" maxLength:"255" doc:"TLS: the name in its certificate."`
	Weight     int    `json:"weight,omitempty" minimum:"0" maximum:"1000000"`
	Priority   int    `json:"priority,omitempty" minimum:"0" maximum:"1000000"`
	Calls      int    `json:"calls,omitempty" minimum:"0" doc:"Limit of calls at one time; 0 for none."`
	CPS        int    `json:"cps,omitempty" minimum:"0" doc:"Limit of calls per second; 0 for none."`
	LastResort bool   `json:"last_resort,omitempty"`
	Direction  string `json:"direction,omitempty" enum:"both,in,out"`
	Author     string `json:"author,omitempty" maxLength:"256"`
	Reason     string `json:"reason,omitempty" maxLength:"256"`
	DryRun     bool   `json:"dry_run,omitempty" doc:"Only check."`
}

// MemberRemoval is the body of POST /v1/members/{group}/{member}/remove.
type MemberRemoval struct {
	Author string `json:"author,omitempty" maxLength:"256"`
	Reason string `json:"reason,omitempty" maxLength:"256"`
	DryRun bool   `json:"dry_run,omitempty" doc:"Only check."`
}

// registerMemberEdits adds the routes of members that come and go.
func (s *Server) registerMemberEdits(api huma.API) {
	if s.cfg.Backend.MemberEdits == nil {
		return
	}
	refusals := []int{http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity, http.StatusServiceUnavailable}
	huma.Register(api, operation(http.MethodPost, "/v1/members/{group}", "add-member", "Add a member to the document", refusals...), s.addMember)
	huma.Register(api, operation(http.MethodPost, "/v1/members/{group}/{member}/remove", "remove-member", "Remove a member from the document", refusals...), s.removeMember)
}

type newMemberInput struct {
	Group string `path:"group" maxLength:"128"`
	Body  NewMember
}

func (s *Server) addMember(ctx context.Context, in *newMemberInput) (*reply[Applied], error) {
	m := in.Body
	s.audit(ctx, "member added", m.Author, "member", in.Group+"/"+m.ID, "at", m.Address+m.FQDN, "site", m.Site, "reason", m.Reason, "dry_run", m.DryRun)
	return answer(ctx, s, func(ctx context.Context) (Applied, error) {
		return s.cfg.Backend.MemberEdits.AddMember(ctx, in.Group, m)
	})
}

type memberRemovalInput struct {
	Group  string `path:"group" maxLength:"128"`
	Member string `path:"member" maxLength:"128"`
	Body   MemberRemoval
}

func (s *Server) removeMember(ctx context.Context, in *memberRemovalInput) (*reply[Applied], error) {
	o := in.Body
	s.audit(ctx, "member removed", o.Author, "member", in.Group+"/"+in.Member, "reason", o.Reason, "dry_run", o.DryRun)
	return answer(ctx, s, func(ctx context.Context) (Applied, error) {
		return s.cfg.Backend.MemberEdits.RemoveMember(ctx, in.Group, in.Member, o)
	})
}
