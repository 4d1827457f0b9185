package admin

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// Accounts knows our registrations at carriers.
type Accounts interface {
	Accounts(ctx context.Context) (AccountList, error)
}

// AccountList is what a node knows of the accounts of the cluster.
type AccountList struct {
	Node     string    `json:"node"`
	Accounts []Account `json:"accounts"`
}

// Account is what a carrier lets one member log in with, and our registration there.
type Account struct {
	Member   string `json:"member" doc:"group/member"`
	Site     string `json:"site" doc:"of the member"`
	AOR      string `json:"aor"`
	Username string `json:"username"`
	Realm    string `json:"realm" doc:"the only one whose challenges are answered"`
	State    string `json:"state" enum:"off,waiting,idle,trying,registered,failed,removing,removed" doc:"off: the account only answers challenges; waiting: no node has it now"`
	Reason   string `json:"reason,omitempty"`
	// Node is the one that keeps the registration.
	Node      string     `json:"registering_node,omitempty"`
	Registrar string     `json:"registrar,omitempty" doc:"where the last REGISTER went"`
	Contact   string     `json:"contact,omitempty" doc:"where the carrier sends calls; its user is a secret"`
	Since     *time.Time `json:"since,omitempty" doc:"of the state"`
	Until     *time.Time `json:"until,omitempty" doc:"when what the registrar holds ends, unless it is refreshed"`
	Next      *time.Time `json:"next,omitempty" doc:"when the next REGISTER goes out"`
	Failures  int        `json:"failures" doc:"in a row"`
}

func (s *Server) registerAccounts(api huma.API, mux *http.ServeMux) {
	if s.cfg.Backend.Accounts == nil {
		mux.HandleFunc("/v1/accounts", absent)
		return
	}
	huma.Register(api, operation(http.MethodGet, "/v1/accounts", "list-accounts", "Our accounts and registrations at carriers"),
		func(ctx context.Context, _ *struct{}) (*reply[AccountList], error) {
			return answer(ctx, s, s.cfg.Backend.Accounts.Accounts)
		})
}
