package spool

import (
	"os"
	"time"

	"github.com/tandem-sbc/tandem/internal/durable"
)

// run writes what changes until Close.
func (s *Spool) run() {
	var f *os.File
	defer func() {
		if f != nil {
			_ = f.Close() // all was synced
		}
	}()
	for {
		s.mu.Lock()
		b, stale, closing := s.buf, s.stale, s.closing
		s.buf = nil
		s.mu.Unlock()
		err := s.append(&f, b, stale)
		s.note(err, len(b))
		if closing {
			return
		}
		if err == nil {
			select {
			case <-s.wake:
			case <-s.closed:
			}
			continue
		}
		if f != nil {
			_ = f.Close() // it is opened anew
			f = nil
		}
		select {
		case <-time.After(retryDisk):
		case <-s.closed:
		}
	}
}

// append writes a piece of the journal, or all of it anew, and waits for the disk.
func (s *Spool) append(f **os.File, b []byte, stale bool) error {
	if !stale && s.grown() {
		stale = true
	}
	if stale {
		if *f != nil {
			_ = (*f).Close() // it is replaced
			*f = nil
		}
		s.mu.Lock()
		image := s.image()
		s.buf, s.stale = nil, false // what came meanwhile is in the image
		s.mu.Unlock()
		return s.rewrite(image)
	}
	if len(b) == 0 {
		return nil
	}
	if *f == nil {
		var err error
		if *f, err = os.OpenFile(s.path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o640); err != nil {
			return err
		}
	}
	if _, err := (*f).Write(b); err != nil {
		return err
	}
	return (*f).Sync()
}

// grown reports whether most of the journal counts no more.
func (s *Spool) grown() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.size > rewriteAt && s.size > 4096*(len(s.items)+len(s.wills))
}

func (s *Spool) note(err error, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = err
	if err != nil {
		s.stale, s.buf = true, nil
		return
	}
	s.size += n
}

// rewrite replaces the journal in one step.
func (s *Spool) rewrite(image []byte) error {
	if err := durable.Replace(s.path, image, 0o640); err != nil {
		return err
	}
	s.mu.Lock()
	s.size = len(image)
	s.mu.Unlock()
	return nil
}

// Close writes what is left and stops. It returns the disk's fault, if it has one.
func (s *Spool) Close() error {
	s.mu.Lock()
	if !s.closing {
		s.closing = true
		close(s.closed)
	}
	s.mu.Unlock()
	s.done.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fault
}
