"""Judges that only have an exit code: `stdin.txt`, `stdout.txt` (the jury's), `answer.txt` (the output); 0 accepts."""

from __future__ import annotations

from scalebox.core.judging import JudgeEnd, JudgeRun
from scalebox.judge.answer import Answer, Question, text_of


def ask(question: Question) -> JudgeRun:
    """Return the run: three files in the working directory, and nothing but the author's own words to say so."""
    files = {"stdin.txt": question.input, "stdout.txt": question.answer, "answer.txt": question.output}
    return JudgeRun(argv=question.args, files=files)


def read(end: JudgeEnd, question: Question) -> Answer:  # noqa: ARG001 - the protocol's form
    """Return what the exit code says: any but 0 rejects."""
    said = text_of(end.stderr) or text_of(end.stdout)
    return Answer("accepted" if end.exit_code == 0 else "rejected", said)
