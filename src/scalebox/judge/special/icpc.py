"""Output validators of Kattis and ICPC packages: `validator input answer feedback/ …`, with the output to be read."""

from __future__ import annotations

from scalebox.core.judging import JudgeEnd, JudgeRun
from scalebox.judge.answer import Answer, Question, scored, text_of

_ACCEPTED, _REJECTED = 42, 43
#: With its separator, as the format demands: validators append the names of files to it.
_FEEDBACK = "feedback/"
_JUDGE_MESSAGE, _TEAM_MESSAGE, _SCORE = (
    _FEEDBACK + name for name in ("judgemessage.txt", "teammessage.txt", "score.txt")
)


def ask(question: Question) -> JudgeRun:
    """Return the run: input and answer as files, a folder for feedback, the output on standard input."""
    return JudgeRun(
        argv=("input", "answer", _FEEDBACK, *question.args),
        files={"input": question.input, "answer": question.answer},
        stdin=question.output,
        collect=(_SCORE, _JUDGE_MESSAGE, _TEAM_MESSAGE),
    )


def read(end: JudgeEnd, question: Question) -> Answer:
    """Return what the exit code says, with the score of an accepted output, if one was left."""
    said = text_of(end.files.get(_JUDGE_MESSAGE, b"")) or text_of(end.files.get(_TEAM_MESSAGE, b""))
    if end.exit_code == _REJECTED:
        return Answer("rejected", said)
    if end.exit_code != _ACCEPTED:
        return Answer("fault", f"ended with exit code {end.exit_code}: {said or text_of(end.stderr)}")
    score = end.files.get(_SCORE)
    return Answer("accepted", said) if score is None else scored(score, question.weight, said)
