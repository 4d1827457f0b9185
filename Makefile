# Tandem. `make help` lists the targets; CI runs them through .ci/run.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: help demo test check race sim e2e bench bench-short benchmarks fuzz soak lint fmt vulncheck readme build cover generate packages tools ocs terraform terraform-tools provider provider-test clean
.PHONY: runbooks watching dashboards
.PHONY: lab lab-up lab-down
.PHONY: dist deb-test

# Tools at the versions of tools/go.mod, built into bin/ on first use.
LINT     := bin/golangci-lint
GOFUMPT  := bin/gofumpt
VULN     := bin/govulncheck
STAGE    := tools/stage
TESTSUM  := bin/testsum
OCS      := bin/cgr-engine
FUZZTIME ?= 10s
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## two sites on this machine, calls without pause, and everything that can fail, failing
	@go run ./cmd/tandem demo

build: ## bin/tandem, one static binary
	CGO_ENABLED=0 go build -trimpath -ldflags '-X main.version=$(VERSION)' -o bin/tandem ./cmd/tandem

test: packages race sim e2e ## all tests: units with the race detector, long simulations, real peers in namespaces

check: $(TESTSUM) $(GOFUMPT) ## the quick ones before a commit: format, vet, unit and script tests
	@test -z "$$($(GOFUMPT) -l . | tee /dev/stderr)" || { echo 'hint: make fmt'; exit 1; }
	@go vet ./...
	@$(TESTSUM) -short ./...
	@go test -C tools ./testsum ./vulnreport

race: $(TESTSUM) ## unit, virtual-time, property and script tests with the race detector
	@$(STAGE) race 15 $(TESTSUM) -race -short $$(go list ./... | grep -v /internal/archtest)

# The packages with tests that -short cuts: simulations of 100,000 calls, ten million numbers.
SIMS      = $$(grep -rl --include='*_test.go' --exclude-dir=tools --exclude-dir=terraform 'testing.Short()' . | xargs -n1 dirname | sort -u)

sim: $(TESTSUM) ## the long simulations in virtual time
	@$(STAGE) sim 7 $(TESTSUM) $(SIMS)

e2e: $(TESTSUM) $(OCS) packages ## real peers in network namespaces; needs root
	@$(STAGE) e2e 18 tools/e2e -timeout 25m

bench: packages ## the measurements of docs/performance.md, beside Kamailio
	@go test -run '^$$' -bench . -benchmem ./...
	@go test -run '^$$' -bench BindingsOfFourNodes -benchtime 100000x ./internal/app
	@go run ./bench
	@go run ./bench/spread

benchmarks: ## every benchmark of the packages for a moment, so that none can rot
	@$(STAGE) benchmarks 8 go test -short -run '^$$' -bench . -benchtime 10x -benchmem ./...

bench-short: packages ## one quick pass of the measurements
	@$(STAGE) bench 3 go run ./bench -short
	@$(STAGE) spread 1 go run ./bench/spread -keys 5000

fuzz: ## every fuzz target for FUZZTIME (10s)
	@FUZZTIME=$(FUZZTIME) $(STAGE) fuzz 16 tools/fuzz

soak: ## hours, not minutes: 30,000 calls through failures, long fuzzing, long simulations
	@TANDEM_SOAK=1 $(TESTSUM) -tags e2e -timeout 4h -count 1 ./e2e/...
	@TANDEM_SOAK=1 $(TESTSUM) -timeout 1h -count 1 ./internal/app -run StormOfRegistrations -v
	@$(TESTSUM) -timeout 4h ./simulation -sim.seeds 100000
	@$(TESTSUM) -timeout 4h ./sbc/b2bua -storm.calls 200000 -abandon.calls 2000000
	@$(TESTSUM) -timeout 4h ./cluster -run ConfigHistory -history.seeds 200
	@$(TESTSUM) -timeout 4h -race ./cluster
	@TANDEM_SOAK=1 $(TESTSUM) -timeout 1h -count 1 ./cluster -run TestNumbersAtScale -v
	@FUZZTIME=5m tools/fuzz

watching: $(TESTSUM) ## rules, alerts and dashboards: each query against the metrics, each alert by promtool
	@cd tools/dashboards && ../../$(STAGE) watching 6 ../../$(TESTSUM) -count 1 ./...

dashboards: ## configs/grafana anew, from tools/dashboards
	@go run -C tools/dashboards .

lint: $(LINT) ## formatting and static analysis
	@$(STAGE) lint 14 $(LINT) run --timeout 14m ./...
	@cd terraform/provider && ../../$(STAGE) lint-tf 6 ../../$(LINT) run --timeout 6m ./...
	@tools/notice

fmt: $(GOFUMPT) ## format the code
	@$(GOFUMPT) -w .

vulncheck: $(VULN) ## known vulnerabilities in code that is really called
	@$(STAGE) vulncheck 6 tools/vulncheck

lab: packages build bin/wanlink ## two sites and a witness by Terraform on this machine, from apply to destroy, each step asserted; needs root
	@$(STAGE) lab 6 terraform/lab/run

lab-up: build bin/wanlink ## the same, to stay: terraform/lab/lab is its script
	@terraform/lab/lab up

lab-down: ## no namespace, process or file of it is left
	@terraform/lab/lab down

bin/wanlink: $(wildcard lab/wanlink/*.go lab/wan/*.go lab/netns/*.go)
	@CGO_ENABLED=0 go build -trimpath -o $@ ./lab/wanlink

runbooks: packages ## the commands of docs/runbooks in the lab, while calls are placed; needs root and Terraform or OpenTofu
	@$(STAGE) runbooks 8 tools/runbooks

readme: ## the commands of the README, one by one
	@$(STAGE) readme 4 tools/readme

terraform: packages ## format, validation and tests of everything under terraform/, without a network
	@$(STAGE) terraform 12 tools/terraform

cover: ## coverage of the unit tests, in out/cover.html
	@mkdir -p out
	@go test -short -coverprofile out/cover.out ./...
	@go tool cover -html out/cover.out -o out/cover.html
	@go tool cover -func out/cover.out | tail -n 1

generate: ## regenerate what is generated
	@go generate ./...

tools: $(LINT) $(GOFUMPT) $(VULN) $(TESTSUM) ## build the pinned tools

ocs: $(OCS) ## CGRateS, the charging system of the end-to-end tests, at the version of tools/ocs/go.mod

packages: ## the packages of Debian and npm that the end-to-end tests use, installed when missing
	@tools/install-packages

provider: ## bin/terraform-provider-tandem, the Terraform provider
	CGO_ENABLED=0 go build -C terraform/provider -trimpath -ldflags '-X main.version=$(VERSION)' -o ../../bin/terraform-provider-tandem .

provider-test: ## the Terraform provider against a real cluster of two sites, whose leader dies in the middle of an apply
	@$(STAGE) provider 6 tools/terraform-provider-test

$(TESTSUM): tools/testsum/main.go
	@go build -C tools -o ../$@ ./testsum

$(LINT): tools/go.mod
	@go build -C tools -o ../$@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint

$(GOFUMPT): tools/go.mod
	@go build -C tools -o ../$@ mvdan.cc/gofumpt

$(VULN): tools/go.mod
	@go build -C tools -o ../$@ golang.org/x/vuln/cmd/govulncheck

terraform-tools: ## what `make terraform` builds: our provider, the Google provider's schema, and OpenTofu where neither it nor Terraform is
	@command -v tofu >/dev/null || command -v terraform >/dev/null || $(MAKE) --no-print-directory .tools/tofu
	@go build -C tools/tfmirror -o /dev/null .
	@go build -C terraform/provider -o /dev/null .

.tools/tofu: tools/tofu/go.mod
	@CGO_ENABLED=0 go build -C tools/tofu -trimpath -ldflags '-s -w -X github.com/opentofu/opentofu/version.dev=no' -o ../../$@ github.com/opentofu/opentofu/cmd/tofu
	@touch $@

$(OCS): tools/ocs/go.mod tools/ocs/aringo/aringo.go tools/ocs/kamevapi/kamevapi.go
	@go build -C tools/ocs -o ../../$@ github.com/cgrates/cgrates/cmd/cgr-engine

dist: bin/nfpm bin/cyclonedx-gomod ## what is handed out: .deb, .rpm and tarballs for two architectures, with SBOM and sums, in out/dist
	@packaging/build

deb-test: packages bin/nfpm ## the package on a clean Debian with systemd: install, call, watchdog, upgrade, purge; needs root
	@$(STAGE) deb-test 6 packaging/test

bin/nfpm bin/cyclonedx-gomod: tools/nfpm/go.mod
	@cd tools/nfpm && CGO_ENABLED=0 go build -o ../../bin/nfpm github.com/goreleaser/nfpm/v2/cmd/nfpm
	@cd tools/nfpm && CGO_ENABLED=0 go build -o ../../bin/cyclonedx-gomod github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod

clean: ## remove what the other targets made
	rm -rf bin out
