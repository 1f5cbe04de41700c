"""The work side, top to bottom: gate → build → execute → judge, one sample after another in a jail of its own."""

from __future__ import annotations

import argparse
import contextlib
import functools
import os
import signal
import socket
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

from scalebox.cache import Kept, Lookup, Store, environment, keys_of
from scalebox.core.errors import SandboxError, SettingsError
from scalebox.core.limits import MIB, scaled
from scalebox.core.result import VerificationResult
from scalebox.core.sample import AssertTest, CallTest, HarnessTest, ProgramTest, PytestTest, Sample, StdinTest, Test
from scalebox.core.settings import Settings
from scalebox.core.verdicts import Verdict
from scalebox.core.wire import Again
from scalebox.execute.builds import Builds
from scalebox.execute.judges import Home, Judges
from scalebox.execute.native import Native
from scalebox.execute.programs import assemble
from scalebox.execute.programs.assembled import Assembled
from scalebox.execute.programs.jest import assemble_suite
from scalebox.execute.replay import NotRecorded, Recorded, Replayed
from scalebox.execute.resident import Resident
from scalebox.execute.runs import Program
from scalebox.execute.tested import Tested, groups_of, parts_of
from scalebox.gate.fingerprint import fingerprint
from scalebox.gate.program import program_of
from scalebox.languages import python, registry
from scalebox.languages.toolchain import Missing, Toolchain, identity_of, prepare, toolchain
from scalebox.sandbox.jail import Jail, JailConfig
from scalebox.sandbox.linux import calls
from scalebox.sandbox.linux.tree import inside
from scalebox.sandbox.pace import YARDSTICK, Pace
from scalebox.sandbox.supervision import Cancelled
from scalebox.sandbox.tiers import Tier, choose
from scalebox.schedule.serve import Watch, refuse, serve
from scalebox.verification import Verification

#: How often the CPU is measured at the start: the best is what it can do.
_WARM_MEASURES = 5

#: The build steps for Python, and for languages with a toolchain of their own, which run in the jail.
_BUILDER = "scalebox.execute.jailed"
_NATIVE_BUILDER = "scalebox.execute.jailed_build"
#: Those of jails for the programs of tasks' authors.
_JUDGE_BUILDER = "scalebox.execute.jailed_judge"


def _slowed(sample: Sample, scale: float) -> Sample:
    return msgspec.structs.replace(sample, limits=scaled(sample.limits, scale))


class Verifier:
    """Verifies samples in the jails of one worker: one jail per set of preloaded modules, started when first needed."""

    def __init__(self, settings: Settings, cores: list[int], more_cores: Sequence[int] = ()) -> None:
        self._settings = settings
        self._cores, self._more_cores = cores, list(more_cores)
        self._tier: Tier = choose(settings.tier)
        self._interpreter = python.interpreter(settings.interpreter)
        self._jails: dict[str, Jail] = {}
        #: Compilers that stay, by language, each in a jail where no program ever runs.
        self._residents: dict[str, Resident] = {}
        folder = settings.cache_folder()
        self._builds = Builds(os.path.join(folder, "builds"), settings.build_cache_mb * MIB)
        self._prepared: dict[str, str] = {}
        #: Judges have jails of their own, which no sample's program ever enters.
        self._judge_jails: dict[str, Jail] = {}
        self._judges = Judges(
            scaled(settings.limits_of("judge"), self._tier.slowness), self._builds, self._native_judges,
            self._python_judges,
        )  # fmt: skip
        self.tier = self._tier.name
        self._pace = Pace()
        self._kept: Kept | None = None
        self._environment = b""
        if settings.cache != "off":
            store = Store(os.path.join(folder, "results"), settings.cache_mb * MIB)
            self._kept = Kept(store, share=settings.cache_audit, rejudge=settings.cache == "rejudge")
            about = self._interpreter
            self._environment = environment(settings, self.tier, (about.executable, about.version), about.path)
        prefixes = self._interpreter.prefixes
        #: What no text that leaves here may name: the interpreter's folders, as the host and as a jail has them.
        self._hidden = (*(inside(prefix) for prefix in prefixes if inside(prefix) != prefix), *prefixes)

    def warm(self) -> None:
        """Start the jail that most samples use, so that the first one does not wait for it."""
        for _ in range(_WARM_MEASURES):
            YARDSTICK.slowness()
        self._jail("bare" if self._settings.zygote == "auto" else self._settings.zygote, None).start()

    def close(self) -> None:
        """End all jails."""
        self._judges.close()
        if self._kept is not None:
            self._kept.close()
        for jails in (self._jails, self._judge_jails):
            for jail in jails.values():
                jail.stop()
            jails.clear()
        for resident in self._residents.values():
            resident.stop()
        self._residents.clear()

    def verify(self, sample: Sample, watch: Watch | None = None) -> tuple[VerificationResult, str]:
        """Return the result of one sample, and how its code was found; what is in doubt is run again at once."""
        result, how, doubtful = self.attempt(sample, watch)
        if doubtful:
            result, how, _ = self.attempt(sample, watch, again=Again(result, doubtful))
        return result, how

    def attempt(
        self, sample: Sample, watch: Watch | None = None, *, soft_s: float = 0.0, again: Again | None = None
    ) -> tuple[VerificationResult, str, list[int]]:
        """Return the result of one sample, how its code was found, and the places of tests that are in doubt.

        The code is found by "code" where it was given as it is. What the program does is never an exception. Where
        `watch` says that nobody wants the sample any more, the cases left are `unknown`. A failure that took longer
        than `soft_s` is looked at twice; what a first run left in doubt comes back as `again`, when no other case
        runs, and leaves none.
        """
        scale = self._tier.slowness
        if scale == 1:
            return self._attempt(sample, watch, soft_s, again)
        result, how, doubtful = self._attempt(_slowed(sample, scale), watch, soft_s * scale, again)
        result.time_scale = scale
        return result, how, doubtful

    def _attempt(
        self, sample: Sample, watch: Watch | None, soft_s: float, again: Again | None
    ) -> tuple[VerificationResult, str, list[int]]:
        self._pace = Pace(alone=again is not None, soft_s=soft_s)
        source, how = program_of(sample)
        if not source.strip():
            work = Verification(sample, self._settings, self._hidden, self.tier)
            return work.failed("gate", Verdict.COMPILE_ERROR, "no code found in the response"), how, []
        lookup = self._lookup(sample, source)
        found = None
        if lookup is not None and again is None:
            found = lookup.result(source) or self._rejudged(sample, source, watch, lookup)
            lookup.counted(found=found is not None)
            if found is not None and not lookup.audited():
                return found, how, []
        result, recorded, doubtful = self._verified(sample, source, watch, again)
        if lookup is not None and not doubtful:
            if found is not None:
                lookup.compare(found, result)
            else:
                lookup.keep(result, None if again else recorded)
        return result, how, doubtful

    def _lookup(self, sample: Sample, source: str) -> Lookup | None:
        """Return a sample's place in the cache; None where its result is neither looked up nor kept."""
        if self._kept is None:
            return None
        own = fingerprint(sample, source, self._interpreter.version)
        try:
            languages = {sample.language, *([sample.checker.language] if sample.checker else [])}
            versions = [identity_of(toolchain(name)) for name in sorted(languages - {python.LANGUAGE.name})]
        except Missing:
            return None
        if own.reason:
            self._kept.count("not_kept")
            return None
        keys = keys_of(self._environment, sample, own.kind, own.form, "\0".join(versions))
        return self._kept.lookup(sample, own.kind, keys, own.text)

    def _rejudged(self, sample: Sample, source: str, watch: Watch | None, lookup: Lookup) -> VerificationResult | None:
        """Return the result of judging anew what the program did when it was run; None where that is not known."""
        recorded = lookup.recorded()
        if recorded is None:
            return None
        work = self._work(sample, source, watch)
        try:
            work.run(Replayed(sample.limits, recorded))
        except (NotRecorded, SandboxError, Missing, Cancelled):
            return None
        return lookup.owned(work.result())

    def _work(self, sample: Sample, source: str, watch: Watch | None, again: Again | None = None) -> Verification:
        work = Verification(sample, self._settings, self._hidden, self.tier, again)
        work.judge = functools.partial(self._judges.for_sample, sample=sample, watch=watch)
        work.code = source
        return work

    def _verified(
        self, sample: Sample, source: str, watch: Watch | None, again: Again | None
    ) -> tuple[VerificationResult, bytes | None, list[int]]:
        """Run a sample; return its result, what its program did where that is kept, and what is in doubt."""
        work = self._work(sample, source, watch, again)
        recorded = None
        try:
            self._refuse_what_cannot_be(sample)
            if sample.language != python.LANGUAGE.name and isinstance(sample.tests[0], ProgramTest | PytestTest):
                self._test_programs(work, source, watch)
            elif sample.language != python.LANGUAGE.name:
                with contextlib.closing(self._native(sample, source, watch)) as program:
                    recorded = self._run(work, program)
            elif isinstance(sample.tests[0], StdinTest | CallTest):
                jail = self._jail(python.zygote_for(source, self._settings.zygote), watch)
                recorded = self._run(work, Program(jail, sample, source.encode("utf-8", "surrogatepass")))
            else:
                self._test(work, source, watch)
        except SandboxError as error:
            work.failed("build", Verdict.INTERNAL_ERROR, str(error))
        except Missing as missing:
            work.failed("build", Verdict.UNKNOWN, str(missing))
        except Cancelled:
            work.failed("execute", Verdict.UNKNOWN, "cancelled")
            work.doubts.places.clear()
        return work.result(), recorded, sorted(work.doubts.places)

    def _refuse_what_cannot_be(self, sample: Sample) -> None:
        """Raise SandboxError for tests that would not be kept apart, or not be understood, in the tier in use.

        On a kernel of its own there is no Landlock, and who waits for whom cannot be seen from outside.
        """
        in_python = sample.language == python.LANGUAGE.name and not isinstance(sample.tests[0], StdinTest | CallTest)
        if self._tier.own_kernel and (in_python or sample.interactor is not None):
            what = "tests that are code of Python" if in_python else "interactive tasks"
            raise SandboxError(
                f"{what} do not run in the {self.tier} tier", step="choose tier",
                mend="verify such samples in the namespace or container tier",
            )  # fmt: skip

    def _run(self, work: Verification, program: Program) -> bytes | None:
        """Run a program against its tests; return what it did, where that is kept and no conversation."""
        if self._kept is None or work.sample.interactor is not None:
            work.run(program)
            return None
        recording = Recorded(program)
        work.run(recording)
        return recording.recorded()

    def _test_programs(self, work: Verification, source: str, watch: Watch | None) -> None:
        """Build and run what each test makes of the code, in another language than the jail's own."""
        language = registry.languages()[work.sample.language]
        for index, test in enumerate(work.sample.tests):
            if isinstance(test, ProgramTest | PytestTest) and index not in work.cases and not work.stopped():
                if isinstance(test, PytestTest):
                    made = assemble_suite(language, work.sample, test, source)
                else:
                    made = assemble(language, test, source)
                with contextlib.closing(self._native(work.sample, made.text, watch, made)) as program:
                    work.run_program(index, test, program, made)

    def _native(self, sample: Sample, source: str, watch: Watch | None, made: Assembled | None = None) -> Native:
        """Return the program of a sample in another language than the jail's own, or `made` of it. Raises Missing."""
        language = registry.languages()[sample.language]
        found, prepared = self._tools(language.name)
        jail = self._jails.get(language.name)
        if jail is None:
            config = self._native_config(found, prepared)
            jail = self._jails[language.name] = Jail(self._tier, config)
            if self._settings.resident_compilers and language.stays(prepared):
                own = msgspec.structs.replace(config, name=f"{language.name}-compiler")
                self._residents[language.name] = Resident(Jail(self._tier, own))
        jail.watch, jail.pace = watch, self._pace
        more = {name: text.encode("utf-8", "replace") for name, text in sample.solution_files.items()}
        return Native(
            jail, sample, source.encode("utf-8", "replace"),
            tools=found, language=made.language if made else language, prepared=prepared, builds=self._builds,
            files=made.files if made else more, beside=made.beside if made else more,
            resident=self._residents.get(language.name),
        )  # fmt: skip

    def _tools(self, language: str) -> tuple[Toolchain, str]:
        """Return a language's toolchain, and where what speeds up its builds is. Raises Missing."""
        found = toolchain(language)
        if language not in self._prepared:
            place = prepare(found, self._settings.cache_folder())
            self._prepared[language] = place if self._can_show(place) else ""
        return found, self._prepared[language]

    def _native_judges(self, language: str) -> Home:
        """Return where judges in a language with a toolchain are at home. Raises Missing."""
        found, prepared = self._tools(language)
        return Home(self._judge_jail(self._native_config(found, prepared)), found, prepared)

    def _python_judges(self, source: str) -> Jail:
        """Return the jail for a judge in Python."""
        return self._judge_jail(self._config(python.zygote_for(source, self._settings.zygote)))

    def _judge_jail(self, config: JailConfig) -> Jail:
        if config.name not in self._judge_jails:
            changed = msgspec.structs.replace(config, name=f"judge-{config.name}", builder=_JUDGE_BUILDER)
            jail = self._judge_jails[config.name] = Jail(self._tier, changed)
            jail.pace = Pace(alone=True)  # nobody is labelled by how long a judge takes: it has the time that it needs
        return self._judge_jails[config.name]

    def _can_show(self, path: str) -> bool:
        """Return whether programs can reach a folder of ours; root's own cannot be, where they see the host's tree."""
        if self._tier.name != "process" or os.geteuid() != 0:
            return True
        return all(os.stat(folder).st_mode & 0o001 for folder in Path(path).parents) if path else False

    def _native_config(self, found: Toolchain, prepared: str) -> JailConfig:
        """Return the configuration of a jail that has one language's toolchain, and Python for its agent alone."""
        more = [*found.readable, *([prepared] if prepared else [])]
        config = self._config("bare")
        return msgspec.structs.replace(
            config, name=found.language, builder=_NATIVE_BUILDER, preload=[], env={}, readable=[*config.readable, *more]
        )

    def _test(self, work: Verification, source: str, watch: Watch | None) -> None:
        """Run tests that are code. Those that cannot run apart from the solution are built once more, with it."""
        sample = work.sample
        texts = [source, sample.setup, *(text for test in sample.tests for text in _texts_of(test))]
        pytest = isinstance(sample.tests[0], PytestTest)
        jail = self._jail(python.zygote_for("\n".join(texts), self._settings.zygote, pytest=pytest), watch)
        for group in groups_of(parts_of(sample, source)):
            work.test(Tested(jail, sample, group), group)

    def tidy(self) -> None:
        """End what is left of the last sample: its compile process, and what that may have kept."""
        for jail in self._jails.values():
            jail.close()

    def _jail(self, zygote: str, watch: Watch | None) -> Jail:
        jail = self._jails.get(zygote)
        if jail is None:
            jail = self._jails[zygote] = Jail(self._tier, self._config(zygote))
        jail.watch, jail.pace = watch, self._pace
        return jail

    def _config(self, zygote: str) -> JailConfig:
        settings, interpreter = self._settings, self._interpreter
        preload = [*python.preload_of(zygote), *settings.preload]
        return JailConfig(
            interpreter=interpreter.executable,
            path=list(interpreter.path),
            readable=[*interpreter.prefixes, *settings.readable],
            preload=preload,
            builder=_BUILDER,
            self_test=(python.SELF_TEST, python.SELF_TEST_INPUT, python.SELF_TEST_OUTPUT),
            # One thread per library pool: the jail has one core, and threads cost memory and start-up.
            env={"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"},
            cores=self._cores,
            more_cores=self._more_cores,
            name=zygote,
            cgroup=settings.cgroup != "off",
        )


def _texts_of(test: Test) -> list[str]:
    """Return the program text in a test."""
    if isinstance(test, AssertTest | HarnessTest):
        return [test.source]
    if isinstance(test, ProgramTest):
        return [test.prefix, test.suffix]
    return list(test.files.values()) if isinstance(test, PytestTest) else []


def main(argv: list[str] | None = None) -> None:
    """Serve the engine that started this process: `--channel FD --config-fd FD [--core N]`.

    The configuration is the JSON of the settings. The process and its jails stay on core N; programs whose limits give
    them more CPUs have those that come after it, too.
    """
    parser = argparse.ArgumentParser(prog="scalebox.worker", description="Started by the engine, not by hand.")
    parser.add_argument("--channel", type=int, required=True)
    parser.add_argument("--config-fd", type=int, required=True)
    parser.add_argument("--core", type=int)
    arguments = parser.parse_args(argv)
    channel = socket.socket(fileno=arguments.channel)
    channel.set_inheritable(False)
    with open(arguments.config_fd, "rb") as file:
        settings = msgspec.json.decode(file.read(), type=Settings)
    calls.prctl(calls.PR_SET_PDEATHSIG, signal.SIGCONT)  # one that is stopped must see the engine's end, too
    tempfile.tempdir = settings.scratch_dir or None
    cores = allowed = sorted(os.sched_getaffinity(0))
    if arguments.core is not None:
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, {arguments.core})
            cores = [arguments.core]
    more = [core for core in allowed if core > cores[0]] + [core for core in allowed if core < cores[0]]
    try:
        verifier = Verifier(settings, cores, more if len(cores) == 1 else ())
        verifier.warm()
    except Exception as error:
        # A setting that cannot work ends the engine's start as a sandbox does that cannot be had.
        refuse(channel, SandboxError(str(error), step="settings") if isinstance(error, SettingsError) else error)
        raise SystemExit(1) from None
    serve(channel, verifier)


if __name__ == "__main__":
    main()
