# bench - builds, checks, installs. `make help` lists the targets.
#
#   CC=clang            another compiler (gcc is the default)
#   CFLAGS=... LDFLAGS=...  added after ours
#   V=1                 show the commands
#   VARIANT=asan|ubsan|tsan|clang|fuzz  a build of its own in build-VARIANT
#   BUILD=folder        where everything built goes
#   PJRT_INCLUDE=folder the folder of another pjrt_c_api.h
#   RUN_ARGS='...'      what `make run` passes to bench
#   TESTS='...'         only these tests: make check TESTS='test_base check_house'

MAKEFLAGS += --no-builtin-rules --no-print-directory
SHELL := /bin/bash
.DELETE_ON_ERROR:
# Generated sources and objects are kept, however make came to them.
.SECONDARY:
.DEFAULT_GOAL := all

# Variables from the command line reach the makes started below by themselves.
ifeq ($(origin CC),default)
CC := gcc
endif
V ?= 0
Q := $(if $(filter 1,$(V)),,@)
# What needs no line of its own: make QUIET='CC PROTO' says only which archives are made.
QUIET ?=
note = $(if $(and $(Q),$(if $(filter $(1),$(QUIET)),,x)),@printf '  %-7s %s\n' '$(1)' '$(2)',@:)
# Rules that start make again use all cores unless the user chose a number.
JOBS = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc))

# ---- variants -----------------------------------------------------------

VARIANT ?=
ifneq ($(filter-out asan ubsan tsan clang fuzz,$(VARIANT)),)
$(error no such VARIANT: $(VARIANT))
endif
BUILD ?= build$(if $(VARIANT),-$(VARIANT))
ifneq ($(filter clang fuzz,$(VARIANT)),)
CC := clang
endif
SANITIZER_asan := -fsanitize=address
SANITIZER_ubsan := -fsanitize=undefined -fno-sanitize-recover=all
SANITIZER_tsan := -fsanitize=thread
SANITIZER_fuzz := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
SANITIZER := $(SANITIZER_$(VARIANT))

# ---- flags --------------------------------------------------------------

PJRT_INCLUDE ?= third_party/include
PKG_CONFIG ?= pkg-config
# hdf5-serial: on a machine with an MPI build of HDF5, plain hdf5 may be that.
LIBRARIES := hdf5-serial jansson gsl hwloc libprotobuf-c libcrypto libxxhash
TEST_LIBRARIES := cmocka

# pkg-config is asked once for all libraries. If one is missing, the flags stay empty, and only
# compiling fails: goals like setup and clean must work.
PKG_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(LIBRARIES) $(TEST_LIBRARIES) 2>/dev/null)
PKG_LIBS := $(shell $(PKG_CONFIG) --libs $(LIBRARIES) 2>/dev/null)
TEST_LIBS := $(shell $(PKG_CONFIG) --libs $(TEST_LIBRARIES) 2>/dev/null)
READY := $(and $(PKG_LIBS),$(TEST_LIBS),$(wildcard $(PJRT_INCLUDE)/pjrt_c_api.h))

# No contraction: a*b+c must give the same bits with every compiler.
BASE_CFLAGS := -std=gnu11 $(if $(SANITIZER),-O1,-O2) -g -fno-omit-frame-pointer -ffp-contract=off \
    $(SANITIZER) $(if $(SANITIZER),-DBENCH_SANITIZER)
# With sanitizers compilers give false warnings, for that code hides the flow of values. So
# warnings are errors in plain builds only. A stack may be as small as 256 KiB, and calls nest.
WARNINGS := -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes \
    $(if $(SANITIZER),,-Wframe-larger-than=32768 -Werror)
# Headers of others are included as system headers: we cannot fix their warnings.
INCLUDES := -I. -I$(BUILD)/gen -isystem $(PJRT_INCLUDE) $(patsubst -I%,-isystem %,$(PKG_CFLAGS))
COMPILE = $(CC) $(BASE_CFLAGS) $(INCLUDES) -MMD -MP
LINK = $(CC) $(BASE_CFLAGS) $(CFLAGS) $(LDFLAGS)
LIBS := $(PKG_LIBS) -ldl -lm -lpthread

# ---- rooms --------------------------------------------------------------

# setup/rooms.txt names the rooms top to bottom, which is the link order: an
# archive can only use what stands after it. A room without sources is skipped.
room_table := $(shell awk '!/^\#/ && NF { print $$1 ":" $$2 }' setup/rooms.txt)
ROOMS := $(foreach row,$(room_table),$(firstword $(subst :, ,$(row))))
$(foreach row,$(room_table),$(eval FOLDER_$(subst :, := ,$(row))))

MAIN := $(wildcard harness/main.c)
protos = $(wildcard $(FOLDER_$(1))/*.proto)
# What a room's pages are made of: files that become lists of lines in C.
assets = $(wildcard $(FOLDER_$(1))/*.js $(FOLDER_$(1))/*.css)
objects = $(patsubst %.c,$(BUILD)/%.o,$(filter-out $(MAIN),$(wildcard $(FOLDER_$(1))/*.c))) \
    $(patsubst %.proto,$(BUILD)/gen/%.pb-c.o,$(call protos,$(1))) \
    $(patsubst %,$(BUILD)/gen/%.o,$(call assets,$(1)))
$(foreach room,$(ROOMS),$(eval OBJECTS_$(room) := $(call objects,$(room))))

PROTOS := $(foreach room,$(ROOMS),$(call protos,$(room)))
GENERATED := $(patsubst %.proto,$(BUILD)/gen/%.pb-c.h,$(PROTOS))
ARCHIVES := $(foreach room,$(ROOMS),$(if $(strip $(OBJECTS_$(room))),$(BUILD)/lib$(room).a))

# The simulated runtime is loaded, never linked; its archive is for tests of its parts.
SIM_ROOMS := $(filter sim_%,$(ROOMS))
SIM := $(if $(SIM_ROOMS),$(BUILD)/libpjrt_sim.so)
BENCH := $(if $(MAIN),$(BUILD)/bench)
# So is the recorder, and not even tests link it: its dlsym would become the program's.
RECORDER := $(if $(OBJECTS_record),$(BUILD)/libpjrt_record.so)
TEST_ARCHIVES := $(filter-out $(BUILD)/librecord.a,$(ARCHIVES))
BENCH_ARCHIVES := $(filter-out $(BUILD)/libsim_%.a,$(TEST_ARCHIVES))

.PHONY: all closed
all: closed $(ARCHIVES) $(BENCH) $(SIM) $(RECORDER)
# bench runs nothing that others may write (docs/threat-model.md), and git makes files as the umask has it.
closed:
	@setup/close.sh

$(BUILD)/bench: $(BUILD)/harness/main.o $(BENCH_ARCHIVES) $(BUILD)/flags
	$(call note,LINK,$@)
	$(Q)$(LINK) -o $@ $(filter %.o %.a,$^) $(LIBS)

# ---- rules --------------------------------------------------------------

# remembered(FILE,TEXT): FORCE unless FILE holds TEXT, so that a target is made
# again when what it was made from has changed and no file's time shows it.
quoted = '$(subst ','\'',$(strip $(1)))'
remembered = $(if $(and $(wildcard $(1)),$(findstring x$(strip $(2))x,x$(file <$(1))x)),,FORCE)
.PHONY: FORCE
FORCE:

# Compiler and flags of the last build.
FLAGS := $(COMPILE) $(WARNINGS) $(CFLAGS) $(LINK) $(LIBS)
$(BUILD)/flags: $(call remembered,$(BUILD)/flags,$(FLAGS)) $(if $(READY),,not-ready)
	@mkdir -p $(@D) && printf '%s' $(call quoted,$(FLAGS)) > $@

.PHONY: not-ready
not-ready:
	@echo 'A library or the PJRT header is missing: run `make setup` first.' >&2; \
	$(PKG_CONFIG) --print-errors --exists $(LIBRARIES) $(TEST_LIBRARIES); \
	[ -e $(PJRT_INCLUDE)/pjrt_c_api.h ] || echo 'No $(PJRT_INCLUDE)/pjrt_c_api.h' >&2; \
	exit 1

# What bench --version says: of the commit that carries the release's tag the release, else with the
# commit. Only main.o is made again for it.
RELEASE := $(strip $(file <VERSION))
# A tarball of make dist has no repository: git archive fills in setup/commit, "COMMIT TAG...".
EXPORTED := $(filter-out $$Format:%,$(file <setup/commit))
COMMIT := $(or $(shell git describe --always --dirty --exclude '*' 2>/dev/null),$(firstword $(EXPORTED)))
TAGGED := $(filter v$(RELEASE),$(if $(filter %-dirty,$(COMMIT)),,$(or \
    $(shell git tag --points-at HEAD 2>/dev/null),$(wordlist 2,99,$(EXPORTED)))))
BENCH_VERSION := $(RELEASE)$(if $(TAGGED),,-dev$(if $(COMMIT),+$(COMMIT)))
$(BUILD)/version: $(call remembered,$(BUILD)/version,$(BENCH_VERSION))
	@mkdir -p $(@D) && printf '%s' $(call quoted,$(BENCH_VERSION)) > $@
$(BUILD)/harness/main.o: $(BUILD)/version
$(BUILD)/harness/main.o: private CFLAGS += -DBENCH_VERSION='"$(BENCH_VERSION)"'

# Objects wait for the generated headers, but are not made again for them: what
# each really includes is in its .d file.
$(BUILD)/%.o: %.c $(BUILD)/flags | $(GENERATED)
	$(call note,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) $(WARNINGS) $(if $(filter tests/%,$<),-Wno-unused-parameter $(if $(SANITIZER),,-Wno-frame-larger-than)) $(CFLAGS) \
	    -c -o $@ $<

$(BUILD)/gen/%.pb-c.c $(BUILD)/gen/%.pb-c.h &: %.proto | $(BUILD)/flags
	$(call note,PROTO,$<)
	@mkdir -p $(@D)
	$(Q)protoc-c --proto_path=. --c_out=$(BUILD)/gen $<

# plots/site/page.js becomes site_page_js, a list of its lines that ends with NULL.
define asset_rule
$(BUILD)/gen/%.$(1).c: %.$(1) | $(BUILD)/flags
	$$(call note,ASSET,$$<)
	@mkdir -p $$(@D)
	$$(Q){ name=$$(notdir $$(patsubst %/,%,$$(dir $$<)))_$$(subst .,_,$$(notdir $$<)); \
	    echo "extern const char *const $$$$name[];"; echo "const char *const $$$$name[] = {"; \
	    sed -e 's/[\\"]/\\&/g' -e 's/.*/    "&\\n",/' $$<; echo '    0};'; } > $$@
endef
$(foreach kind,js css,$(eval $(call asset_rule,$(kind))))

# Generated code is compiled without our warnings.
$(BUILD)/gen/%.o: $(BUILD)/gen/%.c $(BUILD)/flags
	$(call note,CC,$<)
	$(Q)$(COMPILE) -w $(CFLAGS) -c -o $@ $<

# Made afresh each time: else a removed source would stay in the archive. The list notices the
# removal.
define archive_rules
$(BUILD)/$(1).list: $(call remembered,$(BUILD)/$(1).list,$(OBJECTS_$(1)))
	@mkdir -p $$(@D) && printf '%s' '$(strip $(OBJECTS_$(1)))' > $$@
$(BUILD)/lib$(1).a: $(OBJECTS_$(1)) $(BUILD)/$(1).list
	$$(call note,AR,$$@)
	$$(Q)rm -f $$@ && ar rcs $$@ $(OBJECTS_$(1))
endef
$(foreach room,$(ROOMS),$(eval $(call archive_rules,$(room))))

# The simulated runtime's own objects, and what it needs of base and of the readers of StableHLO
# text: position-independent, all hidden but the entry.
SIM_OBJECTS := $(patsubst %.c,$(BUILD)/pic/%.o,\
    $(wildcard $(foreach room,$(SIM_ROOMS),$(FOLDER_$(room))/*.c)) \
    $(addprefix runtime/base/,near.c text.c array.c arena.c alloc.c dtypes.c) runtime/stablehlo/tokens.c)
$(BUILD)/pic/%.o: %.c $(BUILD)/flags
	$(call note,CC,$< (plugin))
	@mkdir -p $(@D)
	$(Q)$(COMPILE) $(WARNINGS) $(CFLAGS) -fPIC -fvisibility=hidden -c -o $@ $<
$(BUILD)/libpjrt_sim.so.list: $(call remembered,$(BUILD)/libpjrt_sim.so.list,$(SIM_OBJECTS))
	@mkdir -p $(@D) && printf '%s' '$(strip $(SIM_OBJECTS))' > $@
$(BUILD)/libpjrt_sim.so: $(SIM_OBJECTS) $(BUILD)/libpjrt_sim.so.list $(BUILD)/flags
	$(call note,PLUGIN,$@)
	$(Q)$(LINK) -shared -Wl,-z,defs -o $@ $(SIM_OBJECTS) -ljansson -lm -lpthread

# The recorder, in the same way. It stays loaded: plugins call it back until the process ends.
RECORD_OBJECTS := $(patsubst %.c,$(BUILD)/pic/%.o,$(wildcard $(FOLDER_record)/*.c))
$(BUILD)/libpjrt_record.so.list: $(call remembered,$(BUILD)/libpjrt_record.so.list,$(RECORD_OBJECTS))
	@mkdir -p $(@D) && printf '%s' '$(strip $(RECORD_OBJECTS))' > $@
$(BUILD)/libpjrt_record.so: $(RECORD_OBJECTS) $(BUILD)/libpjrt_record.so.list $(BUILD)/flags
	$(call note,PLUGIN,$@)
	$(Q)$(LINK) -shared -Wl,-z,defs -Wl,-z,nodelete -o $@ $(RECORD_OBJECTS) -ldl -lpthread

# ---- tests --------------------------------------------------------------

# tests/ has the folders of the house, and a test stands in the folder of what it
# tests. test_NAME.c is a program, check_NAME.sh a script; test_full_* and full_*
# take long and run in check-full only. Each runs as its own process. tests/run.sh
# says in which order.
tests_called = $(sort $(shell find tests -name '$(1)'))
FULL_SOURCES := $(call tests_called,test_full_*.c)
TEST_SOURCES := $(filter-out $(FULL_SOURCES),$(call tests_called,test_*.c))
TEST_SCRIPTS := $(call tests_called,check_*.sh)
FULL_SCRIPTS := $(call tests_called,full_*.sh)
SUPPORT_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/support/*.c))
SUPPORT := $(if $(SUPPORT_OBJECTS),$(BUILD)/tests/libsupport.a)
program = $(patsubst tests/%.c,$(BUILD)/tests/%,$(1))
TEST_PLUGINS := $(if $(wildcard tests/support/fake/fake_pjrt.c),$(BUILD)/libpjrt_fake.so) \
    $(if $(wildcard tests/support/fake/not_a_plugin.c),$(BUILD)/libnot_a_plugin.so) \
    $(if $(wildcard tests/support/slow/slow_pjrt.c),$(BUILD)/libpjrt_slow.so)

$(BUILD)/tests/libsupport.a: $(SUPPORT_OBJECTS)
	$(call note,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

$(BUILD)/tests/%: $(BUILD)/tests/%.o $(SUPPORT) $(TEST_ARCHIVES) $(BUILD)/flags
	$(call note,LINK,$@)
	$(Q)$(LINK) -o $@ $(filter %.o %.a,$^) $(TEST_LIBS) $(LIBS)

# Plugins that the tests load. They are built with the sanitizer, too.
define plugin_rule
$(BUILD)/lib$(1).so.list: $(call remembered,$(BUILD)/lib$(1).so.list,$(2))
	@mkdir -p $$(@D) && printf '%s' '$(strip $(2))' > $$@
$(BUILD)/lib$(1).so: $(2) $(BUILD)/lib$(1).so.list $(BUILD)/flags
	$$(call note,PLUGIN,$$@)
	$$(Q)$$(LINK) -shared -o $$@ $(2) -lm -lpthread
endef
NOT_A_PLUGIN := tests/support/fake/not_a_plugin.c
FAKE_SOURCES := $(filter-out $(NOT_A_PLUGIN),$(wildcard tests/support/fake/*.c))
$(eval $(call plugin_rule,pjrt_fake,$(FAKE_SOURCES:%.c=$(BUILD)/pic/%.o)))
$(eval $(call plugin_rule,not_a_plugin,$(NOT_A_PLUGIN:%.c=$(BUILD)/pic/%.o)))
$(eval $(call plugin_rule,pjrt_slow,$(BUILD)/pic/tests/support/slow/slow_pjrt.o))

# fuzz_NAME.c in tests/fuzz or a folder of it is a target for what reads foreign bytes. It is linked
# with a main that feeds it the files of tests/fuzz/corpus/NAME, and with VARIANT=fuzz with libFuzzer.
FUZZ_SOURCES := $(wildcard tests/fuzz/fuzz_*.c tests/fuzz/*/fuzz_*.c)
fuzz_name = $(patsubst fuzz_%.c,%,$(notdir $(1)))
FUZZ_NAMES := $(call fuzz_name,$(FUZZ_SOURCES))
REPLAYS := $(FUZZ_NAMES:%=$(BUILD)/tests/fuzz/replay_%)

$(foreach source,$(FUZZ_SOURCES),$(eval $(foreach kind,replay fuzz,\
    $(BUILD)/tests/fuzz/$(kind)_$(call fuzz_name,$(source))): $(BUILD)/$(source:.c=.o)))
$(REPLAYS): $(BUILD)/tests/fuzz/replay.o $(SUPPORT) $(TEST_ARCHIVES) $(BUILD)/flags
	$(call note,LINK,$@)
	$(Q)$(LINK) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS)

$(FUZZ_NAMES:%=$(BUILD)/tests/fuzz/fuzz_%): $(SUPPORT) $(TEST_ARCHIVES) $(BUILD)/flags
	$(call note,LINK,$@)
	$(Q)$(LINK) -fsanitize=fuzzer -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS)

.PHONY: fuzzers
fuzzers: $(FUZZ_NAMES:%=$(BUILD)/tests/fuzz/fuzz_%)

# The sanitizers check all of our code. The runtimes' plugins are built without them; the
# suppression files say what that hides.
SUPPRESS := $(CURDIR)/tests/suppressions
TEST_ENV_asan := ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1 \
    LSAN_OPTIONS=suppressions=$(SUPPRESS)/lsan.supp:print_suppressions=0
TEST_ENV_ubsan := UBSAN_OPTIONS=print_stacktrace=1:suppressions=$(SUPPRESS)/ubsan.supp
TEST_ENV_tsan := TSAN_OPTIONS=ignore_noninstrumented_modules=1:second_deadlock_stack=1:suppressions=$(SUPPRESS)/tsan.supp

# TESTS= picks by name, without folder and ending.
TESTS ?=
pick = $(if $(TESTS),$(foreach one,$(1),$(if $(filter $(TESTS),$(basename $(notdir $(one)))),$(one))),$(1))
CHECK_PROGRAMS = $(call pick,$(TEST_SCRIPTS) $(call program,$(TEST_SOURCES)))
FULL_PROGRAMS = $(call pick,$(FULL_SCRIPTS) $(TEST_SCRIPTS) $(call program,$(TEST_SOURCES) $(FULL_SOURCES)))
# Built for the programs and scripts in $(1).
needed = $(filter $(BUILD)/%,$(1)) $(if $(filter tests/fuzz/check_fuzz_corpus.sh,$(1)),$(REPLAYS)) \
    $(if $(filter %_history.sh %_publish.sh %_docs.sh,$(1)),$(BUILD)/tests/harness/campaign/make_history) \
    $(if $(filter %_publish.sh,$(1)),$(BUILD)/tests/plots/site/make_figures) \
    $(if $(filter %_nightly.sh %_nights.sh %_foreign.sh %_suite.sh %_frontends.sh,$(1)),$(BUILD)/tests/harness/campaign/make_night) \
    $(if $(filter %_replay.sh %_recorded.sh %_estimate.sh %_docs.sh %_pages.sh,$(1)),$(BUILD)/tests/harness/replay/make_recording) \
    $(if $(filter %_steps.sh %_doctor_record.sh,$(1)),$(BUILD)/tests/results/recordings/make_recording) \
    $(if $(filter %_recorder_cost.sh,$(1)),$(BUILD)/tests/runtime/record/null_cost) \
    $(if $(filter %_foreign_text.sh %_publish.sh,$(1)),$(BUILD)/tests/results/records/make_foreign) \
    $(if $(filter %_graph.sh %_nightly.sh %_record.sh %_record_profile.sh %_steps.sh %_timeline_readers.sh %_replay_recorded.sh %_frameworks.sh %_frontends.sh %_docs.sh %_members.sh %_surroundings.sh,$(1)),$(BUILD)/tests/harness/commands/pjrt_program)

.PHONY: tests tests-full run-tests run-tests-full
tests: all $(TEST_PLUGINS) $(call needed,$(CHECK_PROGRAMS))
	@:
tests-full: all $(TEST_PLUGINS) $(call needed,$(FULL_PROGRAMS))
	@:
run-tests: tests
	@$(TEST_ENV_$(VARIANT)) tests/run.sh $(BUILD) $(CHECK_PROGRAMS)
run-tests-full: tests-full
	@BENCH_TEST_LIVE=yes $(TEST_ENV_$(VARIANT)) tests/run.sh $(BUILD) $(FULL_PROGRAMS)

# How long the tests take, on two cores; of the sanitizers, asan has been timed.
TESTS_TAKE := $(if $(TESTS),the tests of TESTS,$(if $(SANITIZER),tests: with asan some 45 minutes,some 9 minutes of tests))
# Set-up comes first in a make of its own: only after it does a newly started
# make find pkg-config and the header.
.PHONY: check check-full check-asan check-ubsan check-tsan check-clang
check: setup
	@echo 'make check$(VARIANT:%=-%): some 3 minutes to compile on two cores the first time, then $(TESTS_TAKE)'
	@$(MAKE) $(JOBS) QUIET='ASSET CC PROTO LINK' tests
	@$(MAKE) run-tests
check-full:
	@setup/setup.sh full clang
	@echo 'make check-full: some minutes to compile, then $(if $(TESTS),the tests of TESTS,hours of tests)'
	@$(MAKE) $(JOBS) tests-full
	@$(MAKE) run-tests-full
check-asan check-ubsan check-tsan:
	@$(MAKE) VARIANT=$(@:check-%=%) check
check-clang:
	@setup/setup.sh clang
	@$(MAKE) VARIANT=clang check

# ---- set-up and the main job --------------------------------------------

.PHONY: setup runtimes runtime-tpu runtime-cuda frontends run
setup:
	@setup/setup.sh
runtimes:
	@setup/setup.sh runtimes
runtime-tpu:
	@setup/setup.sh tpu
runtime-cuda:
	@setup/setup.sh cuda

# Python environments of other front ends (docs/frontends.md): all, or FRONTENDS='jax'.
FRONTENDS ?=
frontends:
	@setup/frontends.sh $(FRONTENDS)

# bench measures, stores each experiment and prints their table.
RUN_ARGS ?= --model resnet50,resnet18 --mode lazy,capture --phase train --batch 1 \
    --store bench-results
run: setup
	@echo 'make run: some 40 seconds to compile on two cores the first time, then some 3 minutes of measuring'
	@$(MAKE) $(JOBS) QUIET='ASSET CC PROTO' all
	$(BUILD)/bench $(RUN_ARGS)

# ---- install --------------------------------------------------------------

PREFIX ?= /usr/local
DESTDIR ?=
BIN := $(DESTDIR)$(PREFIX)/bin
MAN1 := $(DESTDIR)$(PREFIX)/share/man/man1
LIB := $(DESTDIR)$(PREFIX)/lib/bench
SHARE := $(DESTDIR)$(PREFIX)/share/bench

# The runtimes that were set up travel along; bench looks for them in
# ../lib/bench/runtimes from where it is.
.PHONY: install uninstall
install: all
	install -d '$(BIN)' '$(MAN1)' '$(LIB)/runtimes' '$(SHARE)/suites' '$(SHARE)/frontends' '$(SHARE)/golden/params'
	install -m 644 suites/*.json '$(SHARE)/suites/'
	install -m 644 tests/golden/*.json '$(SHARE)/golden/'
	install -m 644 tests/golden/params/*.tsv '$(SHARE)/golden/params/'
	$(if $(wildcard contrib/frontends/*/run.py),cp -R contrib/frontends/. '$(SHARE)/frontends/')
	install -d '$(SHARE)/marks'
	install -m 644 contrib/marks/bench_marks.py '$(SHARE)/marks/'
	install -m 755 $(BUILD)/bench '$(BIN)/bench'
	install -m 755 $(SIM) '$(LIB)/libpjrt_sim.so'
	install -m 755 $(RECORDER) '$(LIB)/libpjrt_record.so'
	$(BUILD)/bench --man > $(BUILD)/bench.1
	install -m 644 $(BUILD)/bench.1 '$(MAN1)/bench.1'
	$(if $(wildcard third_party/runtimes/*),cp -R third_party/runtimes/. '$(LIB)/runtimes/')

uninstall:
	rm -f '$(BIN)/bench' '$(MAN1)/bench.1'
	rm -rf '$(LIB)' '$(SHARE)'

# ---- distribution ---------------------------------------------------------

# What travels to other machines; all of it lands in $(BUILD)/dist, with its digest.
DIST := $(BUILD)/dist
DIST_NAME := bench-$(BENCH_VERSION)
DEB_VERSION := $(subst -dev,~dev,$(subst -dirty,.dirty,$(BENCH_VERSION)))
DEB_NAME := bench_$(DEB_VERSION)_$(shell dpkg --print-architecture 2>/dev/null)
STAGE := $(BUILD)/deb

.PHONY: dist deb
# The sources of the commit that is checked out; what is not committed stays behind.
dist:
	@mkdir -p $(DIST)
	git archive --format=tar --prefix=$(DIST_NAME)/ HEAD | gzip -n9 > $(DIST)/$(DIST_NAME).tar.gz
	@cd $(DIST) && sha256sum $(DIST_NAME).tar.gz > $(DIST_NAME).tar.gz.sha256 && \
	    echo 'made $(DIST)/$(DIST_NAME).tar.gz'

# A package with what make install has: the runtimes that were set up travel along.
deb: all
	@command -v dpkg-shlibdeps >/dev/null || \
	    { echo 'make deb needs dpkg-dev: apt-get install dpkg-dev' >&2; exit 1; }
	rm -rf $(STAGE)
	@$(MAKE) install DESTDIR=$(abspath $(STAGE))/root PREFIX=/usr
	gzip -n9 $(STAGE)/root/usr/share/man/man1/bench.1
	setup/make_deb.sh $(STAGE) '$(DEB_VERSION)' $(DIST)/$(DEB_NAME).deb

# ---- house-keeping --------------------------------------------------------

OUR_C = $(wildcard $(foreach room,$(ROOMS),$(FOLDER_$(room))/*.c)) $(call tests_called,*.c)
OUR_H = $(wildcard $(foreach room,$(ROOMS),$(FOLDER_$(room))/*.h)) $(call tests_called,*.h)

.PHONY: format lint clean distclean help
format:
	@setup/setup.sh lint
	clang-format -i $(OUR_C) $(OUR_H)
lint: $(GENERATED)
	@setup/setup.sh lint
	cppcheck --quiet --std=c11 --enable=warning,portability --inline-suppr \
	    --suppress=missingIncludeSystem -I. -I$(BUILD)/gen $(OUR_C)
clean:
	rm -rf build build-asan build-ubsan build-tsan build-clang build-fuzz $(BUILD)
distclean: clean
	rm -rf third_party

help:
	@echo 'make                  build bench (after make setup)'
	@echo 'make setup            packages, runtimes and header; does nothing when all is there'
	@echo 'make run              set-up, build, and the main job: the models, lazily and captured'
	@echo 'make check            set-up, build, tests        make check-full  the long ones as well'
	@echo 'make check-asan, check-ubsan, check-tsan, check-clang   the same with other compilations'
	@echo 'make runtimes         other builds of the CPU runtime, to compare with'
	@echo 'make runtime-tpu      libtpu (under its own licence terms)'
	@echo 'make runtime-cuda     the CUDA plugin (CUDA itself is yours)'
	@echo 'make frontends        JAX and PyTorch/XLA, for bench run --front-end (FRONTENDS=jax: only that)'
	@echo 'make install          PREFIX=/usr/local DESTDIR=      make uninstall'
	@echo 'make dist, make deb   a tarball of the sources, a Debian package'
	@echo 'make format, lint     layout and static checks'
	@echo 'make clean            what was built              make distclean  and what was fetched'

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
