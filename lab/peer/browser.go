package peer

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/tandem-sbc/tandem/lab"
)

// BrowserRun says how a browser is started.
type BrowserRun struct {
	Lab   *lab.Lab
	Place lab.Place
	// Page is the directory of the page with the phones, Library that of SIP.js.
	Page, Library string
	// At is the loopback address from which the page comes; its origin is "http://" and At.
	At netip.AddrPort
	// Certificates are PEM files of servers that the browser shall trust.
	Certificates []string
}

// Browser is headless Chromium with a page of phones. The page asks the Browser what to do and tells it what happens.
type Browser struct {
	*lab.Process
	server   *http.Server
	commands chan string

	mu     sync.Mutex
	events []BrowserEvent
}

// BrowserEvent is one thing that happened to a phone of the page.
type BrowserEvent struct {
	Phone  string `json:"phone"`
	Event  string `json:"event"`
	Detail string `json:"detail"`
}

// String is the event as in failures of tests.
func (e BrowserEvent) String() string { return e.Phone + " " + e.Event + " " + e.Detail }

// StartBrowser serves the page and opens it.
func StartBrowser(r BrowserRun) (*Browser, error) {
	trusted, err := keyHashes(r.Certificates)
	if err != nil {
		return nil, err
	}
	b := &Browser{commands: make(chan string, 64)}
	var listener net.Listener
	if err := r.Lab.Namespace(r.Place).Do(func() (err error) {
		listener, err = net.Listen("tcp", r.At.String())
		return err
	}); err != nil {
		return nil, fmt.Errorf("browser's page: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServer(http.Dir(r.Page)))
	mux.Handle("GET /sip.js/", http.StripPrefix("/sip.js/", http.FileServer(http.Dir(r.Library))))
	mux.HandleFunc("GET /commands", b.sendCommands)
	mux.HandleFunc("POST /events", b.takeEvent)
	b.server = &http.Server{Handler: mux} //nolint:gosec // loopback of a namespace of ours
	go func() { _ = b.server.Serve(listener) }()

	name := fmt.Sprintf("chromium-%03d-%s", serial.Add(1), r.Place)
	b.Process, err = r.Lab.Start(lab.Program{
		Place: r.Place, Name: name, Args: chromium(filepath.Join(r.Lab.Dir, name), trusted, "http://"+r.At.String()+"/"),
		Env: []string{"HOME=" + r.Lab.Dir},
	})
	if err != nil {
		return nil, errors.Join(err, b.server.Close())
	}
	return b, nil
}

// chromium is the command line: no window, no sandbox (root may have none), a microphone that beeps, addresses of the host
// in SDP instead of names that only multicast resolves, and nothing asked of anybody but the page's server and the SIP servers.
func chromium(profile string, trusted []string, url string) []string {
	return []string{
		"chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--user-data-dir=" + profile,
		"--ignore-certificate-errors-spki-list=" + strings.Join(trusted, ","),
		"--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream", "--autoplay-policy=no-user-gesture-required",
		"--disable-features=WebRtcHideLocalIpsWithMdns", "--disable-background-networking", "--disable-component-update",
		"--disable-sync", "--no-first-run", "--disable-extensions", "--disable-background-timer-throttling", url,
	}
}

// keyHashes are the hashes of the certificates' public keys, as Chromium wants them.
func keyHashes(files []string) ([]string, error) {
	var list []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("certificate for the browser: %w", err)
		}
		block, _ := pem.Decode(text)
		if block == nil {
			return nil, fmt.Errorf("certificate for the browser: %s is not PEM", file)
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("certificate for the browser: %s: %w", file, err)
		}
		sum := sha256.Sum256(cert.RawSubjectPublicKeyInfo)
		list = append(list, base64.StdEncoding.EncodeToString(sum[:]))
	}
	return list, nil
}

// sendCommands streams what Do is given to the page.
func (b *Browser) sendCommands(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w)
	for {
		if err := flush.Flush(); err != nil {
			return
		}
		select {
		case c := <-b.commands:
			fmt.Fprintf(w, "data: %s\n\n", c)
		case <-r.Context().Done():
			return
		}
	}
}

func (b *Browser) takeEvent(w http.ResponseWriter, r *http.Request) {
	var e BrowserEvent
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<16)).Decode(&e); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.events = append(b.events, e)
}

// Do gives the page one command: "do" names it, "phone" whom it is for.
func (b *Browser) Do(command map[string]string) error {
	text, err := json.Marshal(command)
	if err != nil {
		return fmt.Errorf("command to the browser: %w", err)
	}
	b.commands <- string(text)
	return nil
}

// Events are what happened until now, in order.
func (b *Browser) Events() []BrowserEvent {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]BrowserEvent(nil), b.events...)
}

// Stop ends the browser and its page.
func (b *Browser) Stop() {
	b.Process.Kill()
	_ = b.server.Close()
}
