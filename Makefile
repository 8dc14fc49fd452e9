# Everyday commands. `make test` and `make demo` need only Swift: they install all other missing packages.

# Packages that the sources, the tests and the demo need in addition to Swift; one name per line, add new ones here.
DEBIAN_PACKAGES := \
	ca-certificates \
	curl \
	g++ \
	git \
	libexpat1-dev \
	libmicrohttpd-dev \
	libnghttp2-dev \
	libsimdjson-dev \
	libssl-dev \
	libyaml-dev \
	libzmq3-dev \
	openssl \
	pkg-config \
	python3 \
	rsync

# Packages for the HTTP/2 benchmark and the interop checks: the programs that ours are compared with, or that read our output.
PEER_PACKAGES := \
	h2o \
	haproxy \
	jq \
	nghttp2-client \
	nghttp2-server \
	nginx-light \
	nodejs \
	prometheus \
	prometheus-node-exporter \
	python3-venv \
	ruby \
	ruby-xmlrpc \
	tshark

# Packages for the tests of the clients. Go takes 470 MB, so only the full tests install it; if it is there, it is tested.
CLIENT_PACKAGES := \
	jq \
	nodejs \
	php-cli \
	ruby \
	strace
FULL_CLIENT_PACKAGES := \
	golang-go

# Packages to build and test the Debian package and the container image: dpkg-shlibdeps finds libraries, debootstrap fetches a bare
# Debian, and podman runs the image.
PACKAGING_PACKAGES := \
	binutils \
	dpkg-dev
CONTAINER_TEST_PACKAGES := \
	containerd \
	crun \
	curl \
	iproute2 \
	iptables \
	podman \
	python3-venv \
	skopeo
PACKAGE_TEST_PACKAGES := \
	debootstrap \
	lintian \
	python3-minimal \
	systemd-container

# Packages to check a report in a browser.
BROWSER_PACKAGES := \
	chromium \
	libxml2-utils \
	python3

# Packages for the documentation's site; DocC comes with Swift.
DOCS_PACKAGES := \
	cmark-gfm \
	mandoc \
	python3

# Packages for the fault tests: filesystems for power cuts, a network that drops packets, and access lists.
FAULT_PACKAGES := \
	acl \
	btrfs-progs \
	e2fsprogs \
	iproute2 \
	mount \
	nftables \
	openssh-sftp-server \
	sshfs \
	xfsprogs

# Packages for several nodes on one spool: kernel NFS in guests, and GlusterFS.
CLUSTER_PACKAGES := \
	e2fsprogs \
	glusterfs-client \
	glusterfs-server \
	iproute2 \
	kmod \
	nfs-common \
	nfs-kernel-server \
	procps \
	user-mode-linux \
	util-linux \
	xfsprogs

# Packages for the tests of the bridge from PostgreSQL. Debian's starts a server of its own, which the tests do not use.
OUTBOX_PACKAGES := \
	postgresql \
	python3-psycopg \
	util-linux

# A build fails when a target imports a module that Package.swift does not declare for it.
CHECKED := --explicit-target-dependency-import-check error
# The program contains the Swift runtime, so that it also runs where Swift is not installed. It uses the linker that comes
# with Swift, because the system's warns about a function in that runtime which the program never calls. Unused tables of
# relocations and exported symbols would take 1.6 MiB of every daemon's memory.
RELEASE := --configuration release --static-swift-stdlib -Xswiftc -use-ld=lld \
	-Xlinker -z -Xlinker pack-relative-relocs -Xlinker --no-export-dynamic
# How many tests run at once: all of them would make two cores so slow that handshakes time out. The long sweeps have the
# machine to themselves for half an hour. Many of them must kill at an exact moment, and those that compute for minutes would
# take all threads from the tests that must answer in time.
WIDTH := 10
FAULT_WIDTH = $(if $(PUSHSPOOL_FULL),4,8)
OTHER_WIDTH := 4
SWEEPS_SIDE_BY_SIDE := --experimental-maximum-parallelization-width 2
FAULTS_SIDE_BY_SIDE = --experimental-maximum-parallelization-width $(FAULT_WIDTH)
FORMATTED := Package.swift Sources Tests

MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
.PHONY: help setup lint format build install uninstall deb image test test-full faults cluster soak clients outbox fuzz interop report docs demo bench instructions clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' Makefile

setup: ## Check for Swift and install missing Debian packages (as root or with sudo -n)
	@.ci/setup $(DEBIAN_PACKAGES)

lint: ## Check formatting and documentation comments
	@echo '==> lint'
	@swift format lint --strict --parallel --recursive $(FORMATTED)

format: ## Rewrite the Swift files in the house format
	@swift format --in-place --parallel --recursive $(FORMATTED)

build: setup ## Build pushspool and pushspool-door for use, in .build/release
	@echo '==> release build'
	@swift build $(RELEASE) --product pushspool
	@swift build $(RELEASE) --product pushspool-door

install: ## Install the built program, manual, unit and completions (PREFIX=/usr/local, DESTDIR=)
	@.ci/install install

uninstall: ## Remove the installed files; configuration, spool and state stay
	@.ci/install uninstall

deb: build ## Build a Debian package: .build/deb/pushspool_<version>_<architecture>.deb
	@.ci/setup $(PACKAGING_PACKAGES)
	@.ci/deb

image: build ## Build a container image: .build/image/pushspool_<version>_<architecture>.tar
	@.ci/setup $(PACKAGING_PACKAGES)
	@.ci/image

test: setup lint ## Lint, build and run all tests; as root, also tests that mount volumes
	@.ci/setup $(FAULT_PACKAGES)
	@$(MAKE) clients
	@echo '==> build of the tests'
	@.ci/swift-build --build-tests $(CHECKED)
	@$(MAKE) -C Tests/Fuzz check
	@.ci/tests $(WIDTH) $(FAULT_WIDTH) $(OTHER_WIDTH)

test-full: test ## Run also the long sweeps (PUSHSPOOL_FULL=1), the fuzzer's corpus, interop, report, package and image
	@echo '==> long sweeps'
	@sweeps=$$(.ci/sweeps) && PUSHSPOOL_FULL=1 .ci/swift-test $(SWEEPS_SIDE_BY_SIDE) --filter "$$sweeps"
	@PUSHSPOOL_FULL=1 $(MAKE) faults
	@PUSHSPOOL_FULL=1 $(MAKE) clients
	@echo '==> the corpus of the fuzzer'
	@$(MAKE) -C Tests/Fuzz replay
	@PUSHSPOOL_FULL=1 $(MAKE) outbox
	@$(MAKE) interop
	@$(MAKE) -C Tests/Interop upgrade
	@$(MAKE) report
	@.ci/setup $(PACKAGING_PACKAGES) $(PACKAGE_TEST_PACKAGES)
	@$(MAKE) -C Tests/Interop package
	@.ci/setup $(CONTAINER_TEST_PACKAGES)
	@$(MAKE) -C Tests/Interop container

faults: setup ## Run only the tests that kill, cut the power and fill disks (as root; longer with PUSHSPOOL_FULL=1)
	@.ci/setup $(FAULT_PACKAGES)
	@.ci/swift-build --build-tests $(CHECKED)
	@.ci/swift-test $(FAULTS_SIDE_BY_SIDE) --filter '^FaultTests\.'

cluster: setup ## Kill, cut and freeze several nodes on NFSv4.2 and GlusterFS (as root, 45 minutes; BEDS=nfs, COUNT=50)
	@.ci/setup $(CLUSTER_PACKAGES)
	@.ci/swift-build --product pushspool
	@for bed in $(or $(BEDS),local nfs gluster); do \
		python3 Tests/Cluster/cluster.py --bed $$bed --count $(or $(COUNT),50) || exit 1; done

soak: setup ## Run mixed load, faults, changes and deaths for HOURS=2, then compare ledger, spool and feedback
	@.ci/setup $(FAULT_PACKAGES)
	@.ci/swift-build --build-tests $(CHECKED)
	@PUSHSPOOL_SOAK=$(or $(HOURS),2) .ci/swift-test --filter '^FaultTests\.SoakTests'

clients: ## Run only the tests of the clients in six languages (etc/clients); they need no build
	@.ci/setup $(CLIENT_PACKAGES) $(if $(PUSHSPOOL_FULL),$(FULL_CLIENT_PACKAGES))
	@echo '==> tests of the clients'
	@python3 -B -m unittest discover --start-directory Tests/Clients

outbox: setup ## Run only the tests of the bridge from PostgreSQL (longer with PUSHSPOOL_FULL=1)
	@.ci/setup $(OUTBOX_PACKAGES)
	@.ci/swift-build --product pushspool
	@echo '==> tests of the bridge from PostgreSQL'
	@/usr/bin/python3 -B -m unittest discover --start-directory Tests/PostgreSQL
	@[ -z "$$PUSHSPOOL_FULL" ] || { /usr/bin/python3 -B Tests/PostgreSQL/sweep.py --quiet-daemons && \
		/usr/bin/python3 -B Tests/PostgreSQL/sweep.py --bridges 4; }

fuzz: setup ## Feed random bytes to all decoders, 10 minutes each (FUZZ=name, SECONDS=n)
	@$(MAKE) -C Tests/Fuzz fuzz

interop: setup ## Test our HTTP/2 and our doors with nghttpd, nginx, curl, aioapns, pyapns and others, and our metrics with Prometheus
	@.ci/setup $(PEER_PACKAGES)
	@$(MAKE) -C Tests/Interop run

report: build ## Check a page of `pushspool report` in a browser (PICTURES=folder keeps the pictures)
	@.ci/setup $(BROWSER_PACKAGES)
	@$(MAKE) -C Tests/Interop report

docs: setup ## Build the documentation as a site, .build/docs, and check its links (DOCS_BASE=/path)
	@.ci/setup $(DOCS_PACKAGES)
	@echo '==> build of the documented modules'
	@.ci/swift-build $(CHECKED) --target PushDaemon
	@.ci/swift-build $(CHECKED) --target SpoolClient
	@.ci/swift-build $(CHECKED) --target GatewaySimulator
	@echo '==> documentation'
	@.ci/docs

demo: setup ## Send sample jobs to the simulated gateway, end to end
	@echo '==> build of the demo'
	@.ci/swift-build --product pushspool $(CHECKED)
	@.ci/swift-build --product pushspool-door $(CHECKED)
	@echo '==> demo'
	@.build/debug/pushspool demo

bench: setup ## Measure all numbers and compare them with peers, 15 minutes (FORM=long: an hour; see Tests/Benchmarks)
	@.ci/setup $(PEER_PACKAGES)
	@$(MAKE) -C Tests/Benchmarks run RELEASE='$(RELEASE)'

instructions: setup ## Count the instructions per notification in each stage (callgrind; needs no quiet machine)
	@.ci/setup valgrind
	@mkdir -p .build/benchmarks/figures
	@$(MAKE) -C Tests/Benchmarks instructions RELEASE='$(RELEASE)'

clean: ## Delete all build output
	@rm -rf .build
	@$(MAKE) -C Tests/Benchmarks clean
