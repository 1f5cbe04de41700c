"""What a policy may do: hand in a program, have the tests run on it, and look at what came of that.

Visible tests run as a batch of their own, and what the policy sees comes from that batch alone. Where all are to run,
they do in a second batch, for the trainer. No answer to a policy depends on that one, a refusal neither: for how long
hidden tests run is the program's to choose, once it has read them.
"""

from __future__ import annotations

import asyncio
import sys
import uuid
from collections import OrderedDict
from collections.abc import Coroutine, Mapping
from typing import Any, Literal

import msgspec

from scalebox.core import codec
from scalebox.core.errors import InputError, QueueFull, ScaleBoxError
from scalebox.core.limits import MIB
from scalebox.core.result import VerificationResult
from scalebox.core.sample import CallTest, Sample, StdinTest
from scalebox.core.verdicts import Verdict
from scalebox.core.views import PolicyView, policy_view
from scalebox.parse.fields import check_names
from scalebox.problems import sample_of
from scalebox.server.audit import record
from scalebox.server.context import Context
from scalebox.server.errors import Refused
from scalebox.server.principal import Principal

_FIELDS = ("problem_id", "code", "response", "language")
#: Bytes of a program, and of a request with one, in which a character may be written as six.
MOST_CODE, MOST_BODY = MIB, 8 * MIB

State = Literal["SUBMITTED", "RUNNING", "DONE", "FAILED"]


class Answer(msgspec.Struct, kw_only=True):
    """The answer to each of the three verbs: every field is always there, whatever came of the program."""

    id: str
    state: State
    compile: Literal["ok", "failed", "unknown"] = "unknown"
    verdict: Verdict = Verdict.NOT_RUN
    pass_rate: float | None = None
    message: str = ""
    stderr: str = ""


class Submission:
    """A program that a policy handed in, and what is known of it."""

    def __init__(self, client: str, sample: Sample) -> None:
        self.client, self.sample = client, sample
        #: Bytes that it takes, with its result.
        self.size = _size_of(sample)
        self.state: State = "SUBMITTED"
        self.view: PolicyView | None = None
        #: The result of the whole run, else of the visible one: for trainers, who have a view of their own.
        self.result: VerificationResult | None = None
        self.ran_all = False
        self.running = 0
        #: The run of all tests.
        self.whole: asyncio.Task[None] | None = None
        self.changed = asyncio.Event()

    def set_result(self, result: VerificationResult) -> None:
        """Take what trainers are to see."""
        self.result = result
        self.size = _size_of(self.sample) + len(codec.encode_result(result))

    def end_run(self) -> None:
        """Note that a run is over."""
        self.running -= 1

    def answer(self) -> Answer:
        """Return what the policy is told."""
        seen = {} if self.view is None else msgspec.structs.asdict(self.view)
        return Answer(id=self.sample.id, state=self.state, **seen)


class Desk:
    """The programs of all policies, by client; a bounded number of each, in memory alone."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._submissions: dict[str, OrderedDict[str, Submission]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        #: By client: how many runs of all tests may go on.
        self._room: dict[str, asyncio.Semaphore] = {}

    async def submit(self, who: Principal, raw: Mapping[str, Any]) -> Submission:
        """Take a program for a problem. Raises InputError, or Refused over the client's quota."""
        sample = await asyncio.to_thread(self._sample, raw)  # a problem may be large
        submission = Submission(who.client, sample)
        kept = self._submissions.setdefault(who.client, OrderedDict())
        self._make_room(kept, submission.size)
        record(self._context, "policy_submit", who=who, sample_id=sample.id, problem_id=sample.problem_id)
        kept[sample.id] = submission
        return submission

    def _make_room(self, kept: OrderedDict[str, Submission], size: int) -> None:
        """Forget the oldest programs until another of so many bytes fits, or is alone; raises Refused."""
        settings = self._context.settings
        used = sum(one.size for one in kept.values())
        while kept and (len(kept) >= settings.server_policy_kept or used + size > settings.server_policy_kept_mb * MIB):
            oldest = next((name for name, one in kept.items() if one.state != "RUNNING"), None)
            if oldest is None:
                raise _over("programs are running")
            gone = kept.pop(oldest)
            used -= gone.size
            if gone.whole is not None:
                gone.whole.cancel()

    def find(self, client: str, submission_id: str) -> Submission:
        """Return a client's program; raises Refused (404) for any other."""
        found = self._submissions.get(client, OrderedDict()).get(submission_id)
        if found is None:
            raise Refused(404, "no such program", mend="it was never handed in, or is forgotten: hand it in again")
        return found

    def run(self, who: Principal, submission: Submission, which: str) -> None:
        """Have the visible tests run, or all; what has been run, or is running, is not run again. Raises Refused."""
        if which not in ("visible", "all"):
            raise InputError(f"{which!r} is none", field="tests", mend="visible or all")
        if self._context.draining:
            raise Refused(503, "the server is about to end", retry_after_s=5)
        visible, whole = submission.state == "SUBMITTED", which == "all" and not submission.ran_all
        if not visible and not whole:
            return
        running = sum(one.state == "RUNNING" for one in self._submissions[who.client].values())
        if running + visible > self._context.settings.server_policy_running:
            raise _over("programs are running")
        sample = submission.sample
        record(self._context, "policy_run", who=who, sample_id=sample.id, problem_id=sample.problem_id, tests=which)
        if visible:
            submission.state = "RUNNING"
            self._start(submission, self._verify(submission, _shown_part(sample), whole=False))
        if whole:
            submission.ran_all = True
            submission.whole = self._start(submission, self._verify_all(submission))

    async def wait(self, submission: Submission, seconds: float) -> None:
        """Wait until a program that runs has been run, or the time has passed."""
        if submission.state == "RUNNING" and seconds > 0:
            try:
                async with asyncio.timeout(seconds):
                    await submission.changed.wait()
            except TimeoutError:
                pass

    def _sample(self, raw: Mapping[str, Any]) -> Sample:
        check_names(raw, _FIELDS, "")
        if not raw.get("problem_id"):
            raise InputError("missing", field="problem_id", mend="name the problem that this is a program for")
        for name in ("code", "response"):
            if isinstance(raw.get(name), str) and len(raw[name].encode("utf-8", "replace")) > MOST_CODE:
                raise Refused(413, f"more than {MOST_CODE} bytes", field=name)
        if self._context.problems is None:
            raise Refused(404, "this server holds no problems", mend="set server_problems")
        return sample_of(
            {**raw, "id": uuid.uuid4().hex}, settings=self._context.settings, problems=self._context.problems
        )

    def _start(self, submission: Submission, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        submission.running += 1
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda _: submission.end_run())
        return task

    async def _verify_all(self, submission: Submission) -> None:
        """Run all tests as soon as not too many of the client's programs are at that."""
        most = self._context.settings.server_policy_running
        async with self._room.setdefault(submission.client, asyncio.Semaphore(most)):
            await self._verify(submission, submission.sample, whole=True)

    async def _verify(self, submission: Submission, sample: Sample, *, whole: bool) -> None:
        try:
            (result,) = await self._context.feed.run(submission.client, [sample])
        except QueueFull:  # nothing came of it: it may be asked for again
            if whole:
                submission.ran_all = False
            else:
                submission.state = "SUBMITTED"
        except ScaleBoxError:
            if not whole:
                submission.state = "FAILED"
        else:
            of_visible = not submission.ran_all and not all(test.hidden for test in sample.tests)
            if whole or of_visible:
                submission.set_result(result)
            if not whole:
                submission.view, submission.state = policy_view(result, sample), "DONE"
        finally:
            if not whole:
                submission.changed.set()


def _size_of(sample: Sample) -> int:
    """Return the bytes that a program takes; texts of its problem are shared by all programs for it, but for calls."""
    calls = (len(test.arguments) + len(test.expect) for test in sample.tests if isinstance(test, CallTest))
    return sys.getsizeof(sample.code or sample.response or "") + sum(calls)


def _shown_part(sample: Sample) -> Sample:
    """Return the sample with its visible tests; with the first hidden one where all are, to see that it compiles.

    Of that one a program gets no input, whatever it could tell by the time it takes, unless it is built with it.
    """
    visible = tuple(test for test in sample.tests if not test.hidden)
    if visible:
        return msgspec.structs.replace(sample, tests=visible)
    first = sample.tests[0]
    if not isinstance(first, StdinTest):
        return msgspec.structs.replace(sample, tests=(first,))
    blank = msgspec.structs.replace(first, stdin="", stdout="", files={}, binary_files={})
    return msgspec.structs.replace(sample, tests=(blank,), checker=None, interactor=None)


def _over(problem: str) -> Refused:
    return Refused(429, f"too many of this client's {problem}", mend="wait for them", retry_after_s=1)
