package main

import (
	"context"
	"log/slog"

	"github.com/tandem-sbc/tandem/internal/app"
	"github.com/tandem-sbc/tandem/internal/sdnotify"
)

// tell keeps the service manager informed of a started node until ended is called: then it says that the process ends.
func tell(manager *sdnotify.Manager, node *app.App, log *slog.Logger) (ended func()) {
	if manager == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	go sdnotify.Keep(ctx, manager, node.Service(), log.With("component", "service manager"))
	return func() {
		// A loop that hangs is not waited for: the manager must be able to end this process.
		cancel()
		_ = manager.Tell("STOPPING=1", "STATUS=ending") // what cannot be told was logged by Keep
	}
}

// reload reads the files of keys and certificates again, and tells the manager so.
func reload(manager *sdnotify.Manager, node *app.App, log *slog.Logger) {
	if manager == nil {
		node.Reload()
		return
	}
	if err := sdnotify.Reload(manager, node.Reload); err != nil {
		log.Warn("the service manager is not told of a reload", "error", err)
	}
}
