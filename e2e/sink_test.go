//go:build e2e

package e2e

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

// sinkVariable makes this program an HTTP sink of call records: "address file".
const sinkVariable = "E2E_CDR_SINK"

// serveSink appends what is posted to a file, and says that it has it when the kernel does.
func serveSink(what string) int {
	address, path, _ := strings.Cut(what, " ")
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, "sink:", err)
		return 1
	}
	var one sync.Mutex
	server := &http.Server{
		Addr: address, ReadHeaderTimeout: 10 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			one.Lock()
			defer one.Unlock()
			if err == nil {
				_, err = f.Write(append([]byte{'\n'}, body...)) // whatever stood there when it was killed
			}
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
			}
		}),
	}
	fmt.Fprintln(os.Stderr, "sink:", server.ListenAndServe())
	return 1
}
