"""One interactive case: a sample's program talks to the task's, and a verdict comes of how both end."""

from __future__ import annotations

from scalebox.core.judging import JudgeEnd
from scalebox.core.sample import StdinTest
from scalebox.core.verdicts import Verdict
from scalebox.execute.interactive import Talk, labelled, talk
from scalebox.execute.judges import Judge
from scalebox.execute.runs import Program
from scalebox.judge.answer import Answer, Question
from scalebox.judge.by_program import Judged, judged
from scalebox.judge.interactor import answer_of, ask


def interview(program: Program, judge: Judge, test: StdinTest, *, keep_bytes: int) -> tuple[Talk, Judged]:
    """Run a test, keeping so much of what is said; return what happened, and what is to be made of it.

    Raises `Lost`.
    """
    protocol = judge.judge.protocol
    question = Question(
        input=test.stdin.encode("utf-8", "surrogatepass"), output=b"", weight=test.weight,
        answer=test.stdout.encode("utf-8", "surrogatepass"), args=judge.judge.args,
    )  # fmt: skip

    def accepts(end: JudgeEnd) -> bool:
        return answer_of(protocol, end, question).kind == "accepted"

    done = talk(program, judge, test, ask(protocol, question), accepts=accepts, keep_bytes=keep_bytes)
    return done, _settled(done, program, answer_of(protocol, done.end, question))


def _settled(done: Talk, program: Program, answer: Answer) -> Judged:
    """Return the verdict, in this order: a rejection that came first, the solution's failure, what the interactor says.

    An interactor that fails labels nobody: there is no jury's own conversation to try it on.
    """
    if done.found.decided and answer.kind == "rejected":
        return judged(answer)
    verdict, why = labelled(done.found, program.limits)
    if verdict is not None:
        return Judged(verdict, why)
    if done.end.doubt is not None:
        return Judged(done.end.doubt, f"the interactor: {done.end.fault}")
    if answer.kind == "fault":
        return Judged(Verdict.INTERNAL_ERROR, f"the task's interactor failed: {_fault(done, answer)}")
    return judged(answer)


def _fault(done: Talk, answer: Answer) -> str:
    unread = done.found.unread[1]
    if done.found.interactor.cause == "wall" and unread:
        return f"it has not read {unread} bytes that the program wrote"
    return answer.detail
