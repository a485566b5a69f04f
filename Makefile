# The commands a newcomer types. Meson does the work; tools/setup gets what is missing, once.
BUILD ?= build
TORCH ?= 2.15.0

.PHONY: all build demo test bench lint format sanitize install clean help
all: build

# Puts Meson and Ninja of an environment that tools/setup makes on the PATH of a recipe.
tools = PATH="$$(tools/setup $(1))/bin:$$PATH" && export PATH
python = python="$$(tools/setup torch $(TORCH))/bin/python"

build: ## build the program, build/plimsoll (the default)
	@$(call tools,build) && { [ -f $(BUILD)/build.ninja ] || meson setup $(BUILD); } && ninja -C $(BUILD)

demo: build ## the memory of a GPT-2 training, without a GPU
	@$(python) && $(BUILD)/plimsoll -- "$$python" examples/train_gpt2.py

# A build folder that was made before cmocka was there has no unit tests yet.
test: build ## run the tests (TEST_ARGS='-k NAME' for some; see tests/run --help)
	@$(call tools,test) && \
	{ grep -q cmocka $(BUILD)/meson-info/intro-dependencies.json || meson setup --reconfigure $(BUILD) >/dev/null; } && \
	tests/run --build $(BUILD) --torch $(TORCH) $(TEST_ARGS)

bench: build ## measure speed (BENCH_ARGS); with TRUTH=FILE.csv accuracy, against runs on real cards
ifdef TRUTH
	@PLM_BUILD=$(BUILD) bench/accuracy "$(TRUTH)" $(BENCH_ARGS)
else
	@$(call tools,build) && $(python) && PLM_BUILD=$(BUILD) PLM_TEST_PYTHON="$$python" bench/run $(BENCH_ARGS)
endif

lint: ## check formatting and look for likely mistakes
	@tools/lint

format: ## lay out all C files
	@tools/lint format

sanitize: ## run the unit tests with AddressSanitizer and UBSan
	@$(call tools,test) && { [ -f build-asan/build.ninja ] || \
	meson setup -Db_sanitize=address,undefined -Db_lundef=false build-asan; } && ninja -C build-asan && \
	tests/run --build build-asan meson

install: build ## install (PREFIX=/usr/local, DESTDIR)
	@$(call tools,build) && { [ -z "$(PREFIX)" ] || meson configure "-Dprefix=$(PREFIX)" $(BUILD); } && \
	meson install -C $(BUILD)

clean: ## remove what was built; the environments in the cache stay
	rm -rf build build-asan build-lint build-fuzz

help: ## show this
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1	\2/p' Makefile | expand -t 16
