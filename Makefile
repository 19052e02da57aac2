# roformer.c - `make` builds ./run, `make test` tests it, `make help` lists the rest.
# COVERAGE: sanitizers of tests/fuzz/fuzz.sh, not for the kernel rows: a fuzzer learns nothing there, and clang takes minutes.
# Respected: CC, CFLAGS (optimisation and your own), LDFLAGS, SENTENCEPIECE=1 (link its C++ library, with CXX),
# STATIC=1 (one file that needs no library), PREFIX, DESTDIR, FLAVOUR (release, debug, san, tsan), V=1 (show commands).
CC      ?= cc
OBJCOPY ?= objcopy
PREFIX  ?= /usr/local
FLAVOUR ?= release
F       ?=
Q       := $(if $(V),,@)

B       := build/$(FLAVOUR)
# A tarball of `make dist` says its version in a file; a clone asks git.
VERSION := $(shell cat VERSION 2>/dev/null || git describe --tags --always --dirty 2>/dev/null || echo unknown)
# What is built for: -m32 in CC is for another processor than the compiler's name says.
TARGET  := $(patsubst x86_64%,$(if $(filter -m32,$(CC)),i686,x86_64)%,$(shell $(CC) -dumpmachine))

# No -ffast-math and no contraction: the order and rounding of every sum is part of what this program promises.
# 32 bits: files of more than 2 GB have a size there too; sums are of floats, not of x87's wider registers.
STD      := -std=c11 -pthread -iquote . -D_XOPEN_SOURCE=700 -ffp-contract=off \
            $(if $(filter i386% i486% i586% i686% arm%,$(TARGET)),-D_FILE_OFFSET_BITS=64) \
            $(if $(filter i386% i486% i586% i686%,$(TARGET)),-msse2 -mfpmath=sse)
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef
CFLAGS_release := -O3
CFLAGS_debug   := -O0 -g
CFLAGS_san     := -O1 -g
CFLAGS_tsan    := -O1 -g
CFLAGS  ?= $(or $(CFLAGS_$(FLAVOUR)),-O3)
ifeq ($(FLAVOUR),san)
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
endif
ifeq ($(FLAVOUR),tsan)
SANITIZE := -fsanitize=thread
endif

# All cores, unless the caller says how many (make -j4); a make inside a make shares the outer one's.
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
endif

# SentencePiece's own library, for --tokenizer-backend sentencepiece (Debian: libsentencepiece-dev).
ifeq ($(SENTENCEPIECE),1)
WITH_SPM := -DWITH_SENTENCEPIECE
override LDFLAGS += -lsentencepiece -lstdc++
endif

# One file that needs nothing of the machine it is copied to (with CC=musl-gcc it is small; Debian: musl-tools).
ifeq ($(STATIC),1)
override LDFLAGS += -static
endif

ALL_CFLAGS = $(STD) $(WITH_SPM) $(RENAMED) $(WARNINGS) $(CFLAGS) $(SANITIZE) $(if $(ISA),,$(COVERAGE)) -MMD -MP
LINK       = $(CC) -pthread $(CFLAGS) $(SANITIZE)

# A folder's sources, its sub-folders' too. Kernels for processors are added where the compiler makes code for them; bench/programs are
# programs. The program is run.c and cli/; nothing else links cli/.
sources = $(wildcard $(1)/*.c $(1)/*/*.c)
objects = $(1:%.c=$(B)/%.o) $(1:%.c=$(B)/pic/%.o) # a program's, and libroformer's
LIBRARY := base rope kernels attention model tokenizer text lab bench
SRC     := $(filter-out kernels/x86/% kernels/arm/% bench/programs/%,$(foreach d,$(LIBRARY),$(call sources,$(d))))
ifneq ($(filter x86_64% amd64%,$(TARGET)),)
SRC     += $(wildcard kernels/x86/*.c)
# Hot loops begin on a cache line: where a compiler happens to lay them, prompts were up to a tenth slower or faster.
AVX2    := -mavx2 -mfma -mf16c -falign-functions=64 -falign-loops=64
AVX512  := $(AVX2) -mavx512f -mavx512bw -mavx512vl -mavx512dq
AMX     := $(AVX512) -mamx-tile -mamx-int8
$(call objects,$(wildcard kernels/x86/avx2*.c)): ISA := $(AVX2)
$(call objects,$(wildcard kernels/x86/avxvnni*.c)): ISA := $(AVX2) -mavxvnni
$(call objects,$(wildcard kernels/x86/avx512*.c)): ISA := $(AVX512)
$(call objects,$(wildcard kernels/x86/avx512vnni*.c)): ISA := $(AVX512) -mavx512vnni
$(call objects,$(wildcard kernels/x86/amx*.c)): ISA := $(AMX)
endif
ifneq ($(filter aarch64% arm64%,$(TARGET)),)
SRC     += $(wildcard kernels/arm/*.c)
$(call objects,$(wildcard kernels/arm/neondot*.c)): ISA := -march=armv8.2-a+dotprod
endif
LIB     := $(SRC:%.c=$(B)/%.o) $(B)/model/builtin.o $(if $(WITH_SPM),$(patsubst %.cc,$(B)/%.o,$(wildcard tokenizer/*.cc tokenizer/*/*.cc)))
CLI     := $(B)/run.o $(patsubst %.c,$(B)/%.o,$(call sources,cli))
# What libFuzzer runs (tests/fuzz) is linked into the tests, too: fuzz_NAME.c as a function of that name.
FUZZERS := $(patsubst tests/fuzz/%.c,%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
# Rows that most processors lack, compiled once more with other instructions in front.
EMULATED := $(if $(AMX),amx avxvnni avxvnni_cache)
TESTS   := $(patsubst %.c,$(B)/%.o,$(wildcard tests/*.c) $(wildcard library/*.c)) $(B)/tests/suites.o $(B)/tests/fuzz/targets.o \
           $(patsubst %.c,$(B)/%.o,$(filter-out tests/fuzz/pack.c,$(wildcard tests/fuzz/*.c))) $(B)/tests/emulated/rows.o \
           $(EMULATED:%=$(B)/tests/emulated/%.o)
$(FUZZERS:%=$(B)/tests/fuzz/%.o): RENAMED = -DLLVMFuzzerTestOneInput=$(notdir $*) -DLLVMFuzzerCustomMutator=mutator_$(notdir $*)

$(B)/tests/emulated/amx.o: ISA := $(AMX) -include tests/emulated/tiles.h
$(B)/tests/emulated/avxvnni.o $(B)/tests/emulated/avxvnni_cache.o: ISA := $(AVX2) -include tests/emulated/dpbusd.h
$(EMULATED:%=$(B)/tests/emulated/%.o): $(B)/tests/emulated/%.o: kernels/x86/%.c $(B)/flags
	@mkdir -p $(@D)
	@$(if $(V),,echo "cc $<, emulated")
	$(Q)$(CC) $(ALL_CFLAGS) $(ISA) -c $< -o $@

# What ./core is made of, in the order to read it.
CORE := core.c rope/rope.c attention/reference.c model/llama.c model/steps.c model/plain.c attention/phi.c \
        model/session.c model/sampler.c model/family.c model/decoder.c model/files/weights.c model/files/gguf.c \
        model/files/llama2c.c text/gguf_pieces.c tokenizer/pieces.c tokenizer/sentencepiece/spm.c \
        tokenizer/bpe/merge.c kernels/ref.c kernels/quants.c base/base.c

# A suite is a file tests/test_NAME.c that defines tests_NAME; those that others rest on run first.
FIRST   := base rope quants encode kernels kernels_attention attention
SUITE_NAMES := $(patsubst tests/test_%.c,%,$(sort $(wildcard tests/test_*.c)))
SUITE_NAMES := $(filter $(SUITE_NAMES),$(FIRST)) $(filter-out $(FIRST),$(SUITE_NAMES))

# Other names of the program: called by one of these it is that command.
PROGRAMS   := weights-tools/convert weights-tools/quantize weights-tools/inspect weights-tools/train
TOOLS      := $(patsubst %.c,$(B)/%.o,$(call sources,weights-tools) $(call sources,train))

all: run $(PROGRAMS) ## build ./run; weights-tools/convert, quantize, inspect and train are other names of it (the default)
.DEFAULT_GOAL := all

run: ## build ./run alone; SENTENCEPIECE=1 with SentencePiece's library, CC=clang
run: $(B)/run FORCE # that of the flavour that was asked for, even if another's is newer
	@cmp -s $< $@ || cp -f $< $@
$(PROGRAMS): run FORCE
	@ln -sf ../run $@

core: ## build ./core, the engine without its breadth: CORE, above, and their headers
core: $(B)/core FORCE
	@cmp -s $< $@ || cp -f $< $@

$(B)/core: $(CORE:%.c=$(B)/%.o) $(B)/model/builtin.o $(B)/flags
	$(Q)$(LINK) $(filter %.o,$^) $(LDFLAGS) -lm -o $@

core-lines: # of these files and of the headers that they include
	@wc -l $(CORE) $$($(CC) $(STD) -MM $(CORE) | tr ' \\\\' '\n\n' | grep '\.h$$' | sort -u) | tail -n 1

$(PROGRAMS:%=$(B)/%): $(B)/run
	@mkdir -p $(@D) && ln -sf ../run $@

$(B)/run: $(CLI) $(TOOLS) $(LIB) $(B)/flags
	$(Q)$(LINK) $(filter %.o,$^) $(LDFLAGS) -lm -o $@

$(B)/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	@$(if $(V),,echo "cc $<")
	$(Q)$(CC) $(ALL_CFLAGS) $(ISA) -c $< -o $@
$(B)/pic/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	@$(if $(V),,echo "cc -fPIC $<")
	$(Q)$(CC) $(ALL_CFLAGS) -fPIC -fvisibility=hidden $(ISA) -c $< -o $@
COMPILE_CC = $(CXX) -std=c++17 -iquote . -Wall -Wextra $(CFLAGS) $(SANITIZE) -MMD -MP
$(B)/%.o: %.cc $(B)/flags
	@mkdir -p $(@D)
	@$(if $(V),,echo "c++ $<")
	$(Q)$(COMPILE_CC) -c $< -o $@
$(B)/pic/%.o: %.cc $(B)/flags
	@mkdir -p $(@D)
	@$(if $(V),,echo "c++ -fPIC $<")
	$(Q)$(COMPILE_CC) -fPIC -fvisibility=hidden -c $< -o $@
$(B)/run.o: ALL_CFLAGS += -DVERSION='"$(VERSION)"'
$(B)/run.o: $(B)/version

# The compiled-in model: the file's bytes as a C array, by od and sed alone.
$(B)/model/builtin.o: PIC :=
$(B)/pic/model/builtin.o: PIC := -fPIC -fvisibility=hidden
$(B)/model/builtin.o $(B)/pic/model/builtin.o: model/tales-1m.gguf $(B)/flags
	@mkdir -p $(@D)
	@{ printf '#include <stddef.h>\n_Alignas(64) const unsigned char builtin_model[] = {\n'; \
	   od -An -v -tu1 $< | sed 's/  */,/g; s/^,//; s/$$/,/'; \
	   printf '};\nconst size_t builtin_model_size = sizeof builtin_model;\n'; } > $(@:.o=.c)
	@$(if $(V),,echo "cc model/tales-1m.gguf")
	$(Q)$(CC) $(STD) $(PIC) -O0 -c $(@:.o=.c) -o $@
	@rm -f $(@:.o=.c)

# Other flags or another version than last time rebuild what depends on them.
remember = mkdir -p $(B); printf '%s\n' '$(1)' | cmp -s - $@ || printf '%s\n' '$(1)' > $@
$(B)/flags: FORCE
	@$(call remember,$(CC) $(STD) $(WITH_SPM) $(WARNINGS) $(CFLAGS) $(SANITIZE) $(COVERAGE) $(LDFLAGS))
$(B)/version: FORCE
	@$(call remember,$(VERSION))

# libroformer: objects of their own, as a shared library may lie anywhere in memory. The archive is one object that shows
# no other name than the shared library does, so that no name of ours meets a program's.
NUMBER  := $(shell sed -n 's/^.define ROFORMER_VERSION \([0-9]*\)$$/\1/p' roformer.h)
RELEASE := $(shell echo $$(($(NUMBER) / 10000)).$$(($(NUMBER) / 100 % 100)).$$(($(NUMBER) % 100)))
SONAME  := libroformer.so.$(firstword $(subst ., ,$(RELEASE)))
FACE    := $(patsubst %.c,$(B)/pic/%.o,$(call sources,library) $(filter-out lab/% bench/%,$(SRC)) \
             lab/cuts.c lab/perplexity.c lab/explain/trace.c) $(B)/pic/model/builtin.o \
           $(if $(WITH_SPM),$(patsubst %.cc,$(B)/pic/%.o,$(wildcard tokenizer/*.cc tokenizer/*/*.cc)))
LIBDIR  ?= $(PREFIX)/lib

lib: $(B)/libroformer.a $(B)/$(SONAME) ## build libroformer.a and libroformer.so.0 in build/release; roformer.h says what is in them
	@ln -sf $(SONAME) $(B)/libroformer.so

$(B)/libroformer.a: $(FACE) library/roformer.map $(B)/flags
	$(Q)$(LD) -r $(filter %.o,$^) -o $(B)/libroformer.o
	@sed -n 's/^ *\(roformer_[a-z_]*\);$$/\1/p' library/roformer.map > $(B)/libroformer.names
	$(Q)$(OBJCOPY) --keep-global-symbols=$(B)/libroformer.names $(B)/libroformer.o
	@rm -f $@
	$(Q)$(AR) rcs $@ $(B)/libroformer.o
	@rm -f $(B)/libroformer.o

$(B)/$(SONAME): $(FACE) library/roformer.map $(B)/flags
	$(Q)$(LINK) -shared -Wl,-soname,$(SONAME) -Wl,--version-script=library/roformer.map $(if $(SANITIZE),,-Wl,-z,defs) \
	  $(filter %.o,$^) $(filter-out -static,$(LDFLAGS)) -lm -o $@

install-lib: lib ## copy header, libraries and roformer.pc to DESTDIR/PREFIX (LIBDIR: PREFIX/lib)
	install -d $(DESTDIR)$(PREFIX)/include $(DESTDIR)$(LIBDIR)/pkgconfig
	install -m 644 roformer.h $(DESTDIR)$(PREFIX)/include/roformer.h
	install -m 644 $(B)/libroformer.a $(DESTDIR)$(LIBDIR)/libroformer.a
	install -m 755 $(B)/$(SONAME) $(DESTDIR)$(LIBDIR)/libroformer.so.$(RELEASE)
	ln -sf libroformer.so.$(RELEASE) $(DESTDIR)$(LIBDIR)/$(SONAME)
	ln -sf $(SONAME) $(DESTDIR)$(LIBDIR)/libroformer.so
	printf '%s\n' 'prefix=$(PREFIX)' 'libdir=$(LIBDIR)' 'includedir=$${prefix}/include' '' 'Name: roformer' \
	  'Description: transformer inference: RoPE, softmax or linear attention' 'Version: $(RELEASE)' \
	  'Cflags: -I$${includedir}' 'Libs: -L$${libdir} -lroformer' 'Libs.private: -pthread $(filter -l%,$(LDFLAGS)) -lm' \
	  > $(DESTDIR)$(LIBDIR)/pkgconfig/roformer.pc

uninstall-lib: ## remove what install-lib copied, and nothing else
	rm -f $(DESTDIR)$(PREFIX)/include/roformer.h $(DESTDIR)$(LIBDIR)/pkgconfig/roformer.pc \
	  $(addprefix $(DESTDIR)$(LIBDIR)/,libroformer.a libroformer.so $(SONAME) libroformer.so.$(RELEASE))

$(B)/library.a: $(LIB) $(TOOLS)
	@rm -f $@
	$(Q)ar rcs $@ $^

# The list of suites, from the list of files.
$(B)/tests/suites.c: FORCE
	@mkdir -p $(@D)
	@{ printf '#include "tests/test.h"\n\n'; printf 'extern const Test tests_%s[];\n' $(SUITE_NAMES); \
	   printf 'const Test *const test_suites[] = {\n'; printf '    tests_%s,\n' $(SUITE_NAMES); printf '    NULL};\n'; } | \
	   { cat > $@.new; cmp -s $@.new $@ || cp $@.new $@; rm $@.new; }
$(B)/tests/suites.o: $(B)/tests/suites.c $(B)/flags
	$(Q)$(CC) $(ALL_CFLAGS) -c $< -o $@

# The same of the fuzz targets; few have a mutator.
$(B)/tests/fuzz/targets.c: FORCE
	@mkdir -p $(@D)
	@{ printf '#include "tests/fuzz/targets.h"\n\n'; \
	   printf 'int %s(const uint8_t *data, size_t size);\n' $(FUZZERS); \
	   printf 'size_t mutator_%s(uint8_t *data, size_t size, size_t most, unsigned seed) __attribute__((weak));\n' $(FUZZERS); \
	   printf 'const FuzzTarget fuzz_targets[] = {\n'; \
	   for f in $(FUZZERS); do printf '    {"%s", %s, mutator_%s},\n' $${f#fuzz_} $$f $$f; done; printf '    {0}};\n'; } | \
	   { cat > $@.new; cmp -s $@.new $@ || cp $@.new $@; rm $@.new; }
$(B)/tests/fuzz/targets.o: $(B)/tests/fuzz/targets.c $(B)/flags
	$(Q)$(CC) $(ALL_CFLAGS) -c $< -o $@

$(B)/test: $(TESTS) $(TOOLS) $(LIB)
	$(Q)$(LINK) $^ $(LDFLAGS) -lm -o $@

# The program with calls that fail on purpose: the linker gives those of our objects, and of them alone, to points.c.
WRAPPED := main malloc calloc free realloc aligned_alloc strdup strndup realpath mmap munmap open close fstat \
           ftruncate fsync rename linkat opendir readdir closedir pthread_create fdopen fopen fileno open_memstream getline
FAULTED := $(addprefix $(B)/tests/,faults/main.o faults/points.o build.o)
FAULTY  := $(if $(findstring linux,$(TARGET)),$(B)/faults $(B)/faults-core)
$(B)/faults: $(CLI) $(TOOLS) $(LIB) $(patsubst %.c,$(B)/%.o,$(wildcard library/*.c)) $(B)/tests/faults/library.o
$(B)/faults-core: $(CORE:%.c=$(B)/%.o) $(B)/model/builtin.o $(B)/base/paths.o $(B)/tests/faults/core.o
$(FAULTY): $(FAULTED) $(B)/flags
	$(Q)$(LINK) $(filter %.o,$^) $(WRAPPED:%=-Wl,--wrap=%) $(LDFLAGS) -lm -o $@

faults: $(B)/run $(PROGRAMS:%=$(B)/%) $(B)/test $(FAULTY) ## fail each allocation, read and write once, in all that the program does
	@FAULTS=$${FAULTS:-$$(date +%s)} $(B)/test faults/ $(B)/run

# Jobs of all kinds with threads that are held up: threads.c once more with delayed.h in front, and calls of teams to points.c.
TEAM    := team_init team_free team_run team_share team_take team_wait team_member thread_seconds
HELD_UP := $(patsubst %.c,$(B)/%.o,$(wildcard tests/delays/*.c)) $(addprefix $(B)/tests/,build.o train_kit.o delays/threads.o)
DELAYED := $(if $(findstring linux,$(TARGET)),$(B)/delays)
$(B)/tests/delays/threads.o: base/threads.c tests/delays/delayed.h $(B)/flags
	@mkdir -p $(@D)
	@$(if $(V),,echo "cc $<, delayed")
	$(Q)$(CC) $(ALL_CFLAGS) -include tests/delays/delayed.h -c $< -o $@
$(B)/delays: $(filter-out $(B)/base/threads.o,$(LIB)) $(TOOLS) $(HELD_UP) $(B)/flags
	$(Q)$(LINK) $(filter %.o,$^) $(TEAM:%=-Wl,--wrap=%) $(LDFLAGS) -lm -o $@

delays: $(B)/run $(B)/test $(B)/delays ## hold threads up at random wherever they wait, ROUNDS times (default 10000): the same bits
	@DELAYS="$${DELAYS:--v -s $$(date +%s) -r $(or $(ROUNDS),10000)}" $(B)/test delays/ $(B)/run

# A process that goes on for long.
SOAKED := $(patsubst %.c,$(B)/%.o,$(wildcard tests/soak/*.c) $(wildcard library/*.c)) $(B)/tests/build.o
$(B)/soak: $(LIB) $(SOAKED) $(B)/flags
	$(Q)$(LINK) $(filter %.o,$^) $(LDFLAGS) -lm -o $@

soak: $(B)/run $(B)/test $(B)/soak ## a chat of 10,000 turns, 10^7 tokens, 1,000 opens: nothing grows, the same bits at the end
	@SOAK=1 $(B)/test soak/ $(B)/run

test: $(B)/run $(B)/core $(PROGRAMS:%=$(B)/%) $(B)/test $(B)/soak $(FAULTY) $(DELAYED) ## run the tests; F=rope runs those whose name holds "rope"
	@$(B)/test "$(F)" $(B)/run

san: ## build with AddressSanitizer and UBSan in build/san and run the tests
	@$(MAKE) --no-print-directory FLAVOUR=san test

# Of what threads share; without ../shared/data, whose trained models would take hours. Then each job of tests/delays with 3 threads.
TSAN_TESTS := base/teams session/ several/bits several/stretched several/generate several/a several/u attention/ linear/ roformer/ stretch/ library/threads
tsan: ## build with ThreadSanitizer in build/tsan and run the tests of what threads share
	@$(MAKE) --no-print-directory FLAVOUR=tsan $(addprefix build/tsan/,test run delays $(PROGRAMS))
	@for tests in $(TSAN_TESTS); do ROFORMER_DATA=/nowhere build/tsan/test $$tests build/tsan/run || exit 1; done
	@DELAYS="-a -t 3" build/tsan/test delays/ build/tsan/run

# Not for the kernel rows (COVERAGE, above): they wrap and narrow lane by lane, and clang takes minutes for them.
INTEGERS := -fsanitize=integer,implicit-conversion -fno-sanitize=unsigned-shift-base -fno-sanitize-recover=all -fsanitize-ignorelist=tests/integers.txt
san-int: ## clang: stop where an unsigned sum wraps or a conversion loses bits, but for tests/integers.txt; build/san-int
	@$(MAKE) --no-print-directory CC=clang B=build/san-int CFLAGS="-O1 -g" COVERAGE="$(INTEGERS)" \
	  LDFLAGS=-fsanitize=integer test

tidy: ## clang-tidy over all sources in C, as .clang-tidy says, where it is installed
	@sh tests/tidy.sh

analyze: ## gcc -fanalyzer over all sources but the tests; what is no defect stands in tests/analyze.txt, with the reason
	@sh tests/analyze.sh

valgrind: $(B)/run ## memcheck over every command on the small models, where valgrind is installed; some minutes
	@sh tests/valgrind.sh $(B)/run

m32: ## cross-compile for 32-bit x86 in build/m32 and run the tests, where gcc-i686-linux-gnu is installed
	@sh tests/m32.sh "$(MAKE)"

arm64: ## cross-compile for arm64 in build/arm64 and run a part of the tests under qemu-user, where both are installed
	@sh tests/arm64.sh "$(MAKE)"

debug: ## build with -O0 -g in build/debug
	@$(MAKE) --no-print-directory FLAVOUR=debug build/debug/run
	@echo "built build/debug/run"

$(B)/bench-models $(B)/bench-linear: $(B)/tests/build.o
$(addprefix $(B)/bench-,models linear ids encoder probe attention draft): $(B)/bench-%: $(B)/bench/programs/%.o $(LIB)
	$(Q)$(LINK) $(filter %.o,$^) $(LDFLAGS) -lm -o $@

TRAINED := $(wildcard $(addprefix ../shared/data/,tales/tales-1m.gguf tales/tales-1m-f32.gguf llama2c/stories260K.bin))
bench: run $(B)/bench-models ## speed of M="a.gguf b.bin" and what the machine can do; LLAMA2C=PATH/run LLAMA_BENCH=PATH beside it
	@d=$$(mktemp -d) && trap 'rm -rf "$$d"' EXIT && sh bench/peers.sh $(or $(M),$$($(B)/bench-models "$$d") $(TRAINED))

bench-linear: $(B)/bench-linear ## linear attention beside softmax: context, prompt, million, drift (T=context: that table only)
	@$(B)/bench-linear $(T)

book: ## all chapters as one offline page, build/book.html (needs pandoc)
	@sh lab/book.sh build/book.html

reproducible: ## build the commit twice, in two folders, and compare the bytes
	@sh tests/reproducible.sh "$(MAKE)"

lint: ## check who includes whom, and that the library neither prints nor exits
	@sh tests/lint.sh

fuzz: ## build the libFuzzer targets in build/fuzz (needs clang) and run each for SECONDS (default 20)
	@sh tests/fuzz/fuzz.sh $(or $(SECONDS),20)

coverage: ## which branches of readers, tokenizers and weights-tools the tests and `make faults` take (needs clang)
	@sh tests/coverage.sh "$(MAKE)"

# Pages and completions come out of the program's own tables; where it does not run here (another machine's), they stay out.
COMMANDS := $(shell sed -n 's/^    {"\([a-z]*\)", ".*/\1/p' run.c)
SHARE    := $(DESTDIR)$(PREFIX)/share
COMPLETIONS := $(SHARE)/bash-completion/completions/roformer $(SHARE)/zsh/site-functions/_roformer \
               $(SHARE)/fish/vendor_completions.d/roformer.fish
install: $(B)/run ## copy ./run to DESTDIR/PREFIX/bin/roformer, with pages of man and completions for bash, zsh and fish
	install -d $(DESTDIR)$(PREFIX)/bin
	install -m 755 $< $(DESTDIR)$(PREFIX)/bin/roformer
	@$< --version > /dev/null 2>&1 || { echo "$< does not run here: pages and completions are left out"; exit 0; }; \
	set -e; echo "pages of man and completions in $(SHARE)"; \
	install -d $(SHARE)/man/man1 $(dir $(COMPLETIONS)); \
	$< help --man > $(SHARE)/man/man1/roformer.1; \
	for c in $(COMMANDS); do $< help --man $$c > $(SHARE)/man/man1/roformer-$$c.1; done; \
	$< help --completions bash > $(word 1,$(COMPLETIONS)); \
	$< help --completions zsh > $(word 2,$(COMPLETIONS)); \
	$< help --completions fish > $(word 3,$(COMPLETIONS))

uninstall: ## remove what install copied, and nothing else
	rm -f $(DESTDIR)$(PREFIX)/bin/roformer $(SHARE)/man/man1/roformer.1 $(COMMANDS:%=$(SHARE)/man/man1/roformer-%.1) $(COMPLETIONS)

dist: ## roformer-VERSION.tar.gz of what is committed; it builds without git
	@mkdir -p build && printf '%s\n' '$(VERSION)' > build/VERSION
	git archive --format=tar.gz --prefix=roformer-$(VERSION)/ --add-file=build/VERSION -o roformer-$(VERSION).tar.gz HEAD

clean: ## remove what was built
	rm -rf build run core $(PROGRAMS)

help: ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 18

.PHONY: all lib install-lib uninstall-lib core-lines test faults soak delays san san-int tsan tidy analyze valgrind m32 arm64 debug bench bench-linear book reproducible lint fuzz coverage install uninstall dist clean help FORCE
-include $(shell find $(B) -name "*.d" 2>/dev/null)
