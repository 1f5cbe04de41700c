#!/bin/sh
# Installs, on Debian and its kin, the toolchains and libraries of ScaleBox's languages, and container runtimes, that are not there. Needs root
# (or sudo). Done again, it does nothing. All of it takes some 3 GB of disk.
set -eu

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

packages=""
# need TOOL PACKAGES: unless there is such a command, or file.
need() { command -v "$1" >/dev/null 2>&1 || packages="$packages $2"; }

need gcc "gcc libc6-dev"
need g++ g++
need javac openjdk-17-jdk-headless
need go golang-go
need node nodejs
need npm npm
need perl perl
need lua lua5.4
need luac lua5.4
need ruby ruby
need php php-cli
need mcs mono-mcs
need R r-base-core
need ghc ghc
need gdc gdc
need scalac scala
need racket racket
need sqlite3 sqlite3
need iverilog iverilog
need crun crun  # these three for the isolation tiers that are chosen by name
need runc runc
need runsc runsc
need chromium chromium  # for the tests of the dashboard
# Not just any rustc: one below somebody's home is out of reach for the users that the process tier runs programs as.
need /usr/bin/rustc rustc
need /usr/bin/cargo cargo

# Libraries of the field, for C++, Go, Rust and Perl.
for library in libboost-dev libssl-dev golang-github-stretchr-testify-dev \
    librust-rand-dev librust-regex+default-dev librust-md5-dev libtest-deep-perl; do
    dpkg -s "$library" >/dev/null 2>&1 || packages="$packages $library"
done

if [ -n "$packages" ]; then
    as_root apt-get update -q
    # shellcheck disable=SC2086 - one word for each package
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $packages
fi

modules=$(npm root -g)
missing=""
node_module() { [ -e "$modules/$1" ] || missing="$missing $2"; }
node_module typescript/lib/tsc.js typescript@5
node_module @types/node @types/node
node_module kotlin-compiler/lib/kotlin-compiler.jar kotlin-compiler@2
node_module js-md5 js-md5
if [ -n "$missing" ]; then
    # shellcheck disable=SC2086 - one word for each package
    as_root npm install --global $missing
fi
