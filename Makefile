# Two commands are all that a new machine needs: `make demo` and `make test`.
# They set up .venv by themselves, given Python 3.11 or later and cargo.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
RUST := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock
# One worker for each processor, but two at least, since many tests wait for a process.
PYTEST = $(BIN)/python -m pytest -q -n auto --dist loadgroup --no-loadscope-reorder
# Output folder of the demo; made anew by each run.
DEMO := .demo

# Tests start Python hundreds of times, which must not compile neardup anew each time.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-fast test-rust test-python lint format translations docs site wheels bench bench-core bench-short accuracy clean

demo: .venv/built
	@rm -rf $(DEMO) && mkdir $(DEMO)
	@echo '$$ neardup dedup examples/articles.jsonl -o kept.jsonl --removed removed.jsonl'
	@$(BIN)/neardup dedup examples/articles.jsonl -o $(DEMO)/kept.jsonl --removed $(DEMO)/removed.jsonl
	@echo
	@$(BIN)/python examples/show_removed.py examples/articles.jsonl $(DEMO)/removed.jsonl

test: test-rust test-python

# The profile and the features are those of the build, so that dependencies are compiled once.
# neardup's own code is compiled again, with assertions and checks of overflow.
CHECKED := $(foreach crate,hamming core align lines,\
    $(foreach setting,opt-level=1 debug-assertions=true overflow-checks=true,\
        --config profile.editable.package.neardup-$(crate).$(setting)))
test-rust: .venv/built
	cargo test --locked --profile editable --workspace $(CHECKED)

test-python: .venv/test
	tests/install_system_packages
	$(PYTEST)

test-fast: .venv/test
	$(PYTEST) -m 'not slow'

lint: .venv/test .venv/lint
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/mypy tests/typing
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/python -m mypy.stubtest neardup._core
	cargo fmt --all --check
	cargo clippy --locked --profile editable --workspace --all-targets -- -D warnings
	cargo check --locked --quiet --benches --target-dir target/benches \
	    --manifest-path crates/neardup-core/benches/Cargo.toml
	RUSTDOCFLAGS='-D warnings' cargo doc --locked --profile editable --workspace --no-deps --quiet
	$(BIN)/python docs/generate_cli_reference.py --check
	$(BIN)/python translate.py missing
	$(BIN)/python check_english.py

format: .venv/lint
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
	cargo fmt --all

# Put new sentences into the Chinese file, to be translated there.
translations: .venv/test
	$(BIN)/python translate.py update

docs: .venv/built
	$(BIN)/python docs/generate_cli_reference.py

# The pages of docs as a website, with the API, two pages that neardup makes and one that runs it, in
# .site/html; a warning is an error.
SITE := .site/source
site: .venv/test .venv/site
	rm -rf .site && mkdir .site && cp -r docs $(SITE) && mv $(SITE)/site/* $(SITE) && mkdir $(SITE)/made
	$(BIN)/neardup dedup examples/articles.jsonl -o - --dry-run --review $(SITE)/made/review.html --quiet
	$(BIN)/neardup check examples/papers/paper.md --library examples/papers/library --no-date \
	    -o $(SITE)/made/report.html --quiet
	$(BIN)/python docs/browser/make_pages.py $(SITE)/made
	$(BIN)/sphinx-build -W --keep-going -q -b html $(SITE) .site/html
	cp .site/html/README.html .site/html/index.html

# Wheels for Linux, x86-64 and aarch64, by zig, and the source distribution, in dist/; then each is
# tried where there is no neardup. A quarter of an hour on two cores.
WHEELS := $(foreach cpu,x86_64 aarch64,$(foreach libc,gnu musl,$(cpu)-unknown-linux-$(libc)))
wheels: .venv/wheels
	rm -rf dist
	$(BIN)/python translate.py compile
	rustup target add $(WHEELS)
	for target in $(WHEELS); do \
	    case $$target in *musl) least=musllinux_1_2 ;; *) least=manylinux2014 ;; esac; \
	    PATH="$(CURDIR)/$(BIN):$$PATH" maturin build --release --locked --zig --target $$target \
	        --compatibility $$least --out dist || exit 1; \
	done
	$(BIN)/maturin sdist --out dist
	PYTHON=$(CURDIR)/$(BIN)/python tests/try_wheels dist

# Two hours on two cores that do nothing else; needs the corpora in ../shared, and 40 GB of disk. An
# engine that fails is a row that says so, and the page is made all the same.
bench: .venv/test as-released
	$(BIN)/python benchmarks/run.py --large

# Each stage of the core by itself, in nanoseconds; ONLY=normalize runs that stage.
bench-core:
	CRITERION_HOME=$(CURDIR)/target/criterion cargo bench --locked --manifest-path crates/neardup-core/benches/Cargo.toml \
	    --target-dir target/benches -- $(ONLY)

# Every benchmark once, on small inputs: shown, not stored.
bench-short: .venv/test
	$(BIN)/python benchmarks/run.py --large --trial --repetitions 1

# The build that users get, in place of the editable one until the next build.
.PHONY: as-released
as-released: .venv/test
	$(BIN)/pip install --quiet --no-deps .
	rm .venv/built

# Needs the corpora in ../shared.
accuracy: .venv/test
	$(BIN)/python benchmarks/run.py accuracy

clean:
	rm -rf .venv target dist .site $(DEMO) benchmarks/.envs benchmarks/.inputs

.venv/pip:
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --upgrade 'pip>=25.1'
	@touch $@

# Building compiles the translations.
.venv/built: .venv/pip pyproject.toml $(RUST) $(wildcard python/neardup/base/locale/*/LC_MESSAGES/*.po)
	$(BIN)/pip install --quiet --editable .
	@touch $@

.venv/test: .venv/built
	$(BIN)/pip install --quiet --editable '.[index,lab,mcp,papers,postgres,server,spark]' --group test
	@touch $@

.venv/lint: .venv/pip pyproject.toml
	$(BIN)/pip install --quiet --group lint
	@touch $@

.venv/site: .venv/pip pyproject.toml
	$(BIN)/pip install --quiet --group site
	@touch $@

.venv/wheels: .venv/pip pyproject.toml
	$(BIN)/pip install --quiet --group wheels
	@touch $@
