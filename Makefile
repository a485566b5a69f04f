# The commands a newcomer types. Meson does the work; tools/setup gets what is missing, once.
BUILD ?= build
TORCH ?= 2.15.0
comma = ,

.PHONY: all build demo test mutants torch bench wheel lint format sanitize tsan docs install clean help
all: build

# Puts Meson and Ninja of an environment that tools/setup makes on the PATH of a recipe.
tools = PATH="$$(tools/setup $(1))/bin:$$PATH" && export PATH
python = python="$$(tools/setup torch $(TORCH))/bin/python"
# compile FOLDER,TARGETS,OPTIONS: sets the folder up and builds, with one line of progress.
compile = { [ -f $(1)/build.ninja ] || tools/quiet "setting the build up" meson setup $(3) $(1); } && \
	tools/quiet "building" ninja -C $(1) $(2)

build: ## build the program, build/plimsoll (the default)
	@$(call tools,build) && $(call compile,$(BUILD),program)

demo: build ## the memory of a GPT-2 training, without a GPU
	@$(python) && $(BUILD)/plimsoll -- "$$python" examples/train_gpt2.py

# A build folder that was made before cmocka was there has no unit tests yet.
test: ## run the tests (TEST_ARGS='-k NAME'; TRUTH=PATH holds estimates against real runs)
	@$(call tools,test) && { [ ! -f $(BUILD)/build.ninja ] || \
	grep -q cmocka $(BUILD)/meson-info/intro-dependencies.json || \
	tools/quiet "setting the build up again" meson setup --reconfigure $(BUILD); } && \
	$(call compile,$(BUILD)) && tests/run --build $(BUILD) --torch $(TORCH) $(if $(TRUTH),--truth "$(TRUTH)") $(TEST_ARGS)

mutants: ## put known bugs into a copy: do the tests notice? (MUTANTS='--tenth', words)
	@tests/mutants/run $(MUTANTS)

torch: ## try a release of PyTorch: make torch VERSION=2.11.0 (docs/HOWTO_ADD_TORCH.md)
	@$(call tools,build) && $(call compile,$(BUILD)) && tools/torch --build $(BUILD) $(VERSION)

bench: build ## measure speed (BENCH_ARGS); with TRUTH=FILE.csv accuracy, against runs on real cards; TRUTH=FOLDER times
ifdef TRUTH
	@PLM_BUILD=$(BUILD) bench/accuracy "$(TRUTH)" $(BENCH_ARGS)
else
	@$(call tools,build) && $(call compile,$(BUILD),bench/synth bench/load bench/parse tests/conformance/conformance-lane) && $(python) && \
	PLM_BUILD=$(BUILD) PLM_TEST_PYTHON="$$python" bench/run $(BENCH_ARGS)
endif

wheel: ## a wheel that pip installs elsewhere, in dist/
	@$(call tools,wheel) && tools/wheel

lint: ## check formatting and look for likely mistakes
	@tools/lint

format: ## lay out all C files
	@tools/lint format

sanitize: ## run the unit tests with AddressSanitizer and UBSan
	@$(call tools,test) && $(call compile,build-asan,,-Db_sanitize=address$(comma)undefined -Db_lundef=false) && \
	tests/run --build build-asan meson

tsan: ## threads, forks and captures against each other, with ThreadSanitizer (STRESS_SECONDS=60)
	@$(call tools,build) && $(call compile,build-tsan,stress-and-shims,-Db_sanitize=thread -Db_lundef=false) && \
	PLIMSOLL_CARD=data/gpus/rtx3060.ini#rtx3060 PLIMSOLL_CAPABILITIES=data/compute-capabilities.ini \
	build-tsan/tests/stress/stress $(or $(STRESS_SECONDS),60) build-tsan/src/shim

docs: ## write the tables of docs/record.md and docs/values.md (src/record/events.def, src/common/policy.def)
	@$(call tools,build) && $(call compile,$(BUILD),record_doc values_doc) && $(BUILD)/record_doc --write docs/record.md && \
	$(BUILD)/values_doc --write docs/values.md

install: build ## install (PREFIX=/usr/local, DESTDIR)
	@$(call tools,build) && { [ -z "$(PREFIX)" ] || meson configure "-Dprefix=$(PREFIX)" $(BUILD); } && \
	meson install --no-rebuild -C $(BUILD)

clean: ## remove what was built; the environments in the cache stay
	rm -rf build build-asan build-tsan build-lint build-fuzz build-mutants build-wheel dist

help: ## show this
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1	\2/p' Makefile | expand -t 16
