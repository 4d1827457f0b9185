package admin

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"
)

// importNumbers takes a list of numbers as the body of a request.
func (s *Server) importNumbers(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	i := NumberImport{
		Group: q.Get("group"), Replace: q.Get("replace_group"), DryRun: q.Get("dry_run") == "true",
		Author: q.Get("author"), Reason: q.Get("reason"), Key: r.Header.Get("Idempotency-Key"),
	}
	for _, text := range []string{i.Group, i.Replace, i.Author, i.Reason, i.Key} {
		if len(text) > 256 {
			refuse(w, newProblem(http.StatusUnprocessableEntity, "group, replace_group, author, reason and key have at most 256 octets each", ""))
			return
		}
	}
	s.audit(r.Context(), "import of numbers", i.Author, "reason", i.Reason, "replace_group", i.Replace, "dry_run", i.DryRun)
	s.patient(w)
	v, err := s.cfg.Backend.Numbers.ImportNumbers(r.Context(), http.MaxBytesReader(w, r.Body, maxNumberList), i)
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		err = newProblem(http.StatusRequestEntityTooLarge, large.Error(), "import it in parts")
	}
	if err != nil {
		s.refuseNumbers(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		s.cfg.Logger.Warn("the answer to an import of numbers was not taken", "error", err)
	}
}

func (s *Server) refuseNumbers(w http.ResponseWriter, r *http.Request, err error) {
	p, ok := errors.AsType[*Problem](err)
	if !ok {
		p, ok = errors.AsType[*Problem](s.numberProblem(r.Context(), err))
	}
	if !ok {
		p = newProblem(http.StatusInternalServerError, "the node's log says more", "")
	}
	refuse(w, p)
}

// exportNumbers writes the table as a list. What fails when a part of it was written cuts the
// connection, so that nobody takes it for whole.
func (s *Server) exportNumbers(w http.ResponseWriter, r *http.Request) {
	s.patient(w)
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	if err := s.cfg.Backend.Numbers.ExportNumbers(r.Context(), w, r.URL.Query().Get("group")); err != nil {
		s.cfg.Logger.Warn("an export of numbers was not whole", "error", err)
		panic(http.ErrAbortHandler)
	}
}

// patient gives a request the time that a long list takes.
func (s *Server) patient(w http.ResponseWriter) {
	c := http.NewResponseController(w)
	until := time.Now().Add(numbersTime)
	if err := errors.Join(c.SetReadDeadline(until), c.SetWriteDeadline(until)); err != nil {
		s.cfg.Logger.Warn("a long list of numbers may be cut off", "error", err)
	}
}
