"""Tests that are compiled together with the code, in other languages than Python: HumanEval-X and its kin, and jest."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from tests.conftest import ThirdParty
from tests.fidelity.conftest import Verify
from tests.fidelity.labelled import Labelled
from tests.fidelity.labels import check, wrong
from tests.fidelity.quixbugs_java import as_program

from scalebox.languages.toolchain import Missing, toolchain

pytestmark = [pytest.mark.long, pytest.mark.timeout(3600)]

Record = dict[str, Any]

#: A build may take long on a loaded machine; a wrong program that does not end is to be found out sooner.
LIMITS = {"build_s": 120.0, "cpu_s": 20.0, "wall_s": 120.0}
#: One suite tries all digits for ten letters.
LONG = {"build_s": 120.0, "cpu_s": 120.0, "wall_s": 600.0}
SHORT = {"build_s": 120.0, "cpu_s": 4.0, "wall_s": 60.0}

#: Sets, the language of each, and how many of its programs are labelled.
SETS = {
    "humanevalx_cpp": ("cpp", 82), "humanevalpack_cpp": ("cpp", 164),
    "humanevalx_java": ("java", 82), "humanevalpack_java": ("java", 164), "quixbugs": ("java", 40),
    "humanevalx_js": ("javascript", 82), "humanevalpack_js": ("javascript", 164),
    "humanevalx_rust": ("rust", 82), "humanevalpack_rust": ("rust", 164),
    "humanevalx_go": ("go", 82), "humanevalpack_go": ("go", 164),
    "multipl_e_js": ("javascript", 8), "multipl_e_ts": ("typescript", 20), "multipl_e_rs": ("rust", 9),
    "multipl_e_sh": ("bash", 12), "exercism_ts": ("typescript", 112),
}  # fmt: skip
#: Records whose head lacks something (imports, a function that the tests or the code call) or goes too far (into the
#: function that the code begins), and the set whose record of the same problem has it right.
HEAD_FROM = {
    "humanevalx/go/20": "humanevalpack_go", "humanevalpack/cpp/38": "humanevalx_cpp",
    **{f"humanevalpack/go/{pid}": "humanevalx_go" for pid in (10, 32, 38, 50)},
}  # fmt: skip
#: Records whose tests are a comment, and the set whose record of the same problem has the same tests.
TESTS_FROM = {"humanevalx/rust/32": "humanevalpack_rust"}
#: Tests that take a hundred polynomials by chance, with one in a hundred of which the right program, Newton's method,
#: does not end. They get the same ones each time, by a seed with which it does.
BY_CHANCE = frozenset(["humanevalx/rust/32", "humanevalpack/rust/32"])
_SEEDED = "<rand::rngs::StdRng as rand::SeedableRng>::seed_from_u64(4)"
#: A call of crate rand before 0.8.
_RANGE = re.compile(r"\bgen_range\(([^(),]+), ([^(),]+)\)")
_IMPORTS = re.compile(r"^import \((.*?)^\)", re.MULTILINE | re.DOTALL)


def _imported_once(prefix: str) -> str:
    """Return the head of a Go program without the imports that it repeats.

    Go refuses them; the harness of HumanEval-X takes them out, too.
    """
    seen: set[str] = set()

    def once(block: re.Match[str]) -> str:
        lines = [line for line in block[1].splitlines() if line.strip() not in seen]
        seen.update(map(str.strip, lines))
        return "import (" + "\n".join(lines) + "\n)"

    return _IMPORTS.sub(once, prefix)


def _records(third_party: ThirdParty, name: str) -> list[Record]:
    """Return the records of a set in its language, as the programs that they are meant to be."""
    language = SETS[name][0]
    records = [one for one in third_party(f"function/{name}.jsonl.zst") if one["language"] == language]
    for record in records:
        if record["id"] in HEAD_FROM:
            whole = third_party(f"function/{HEAD_FROM[record['id']]}.jsonl.zst")
            record["prefix"] = next(one["prefix"] for one in whole if one["pid"] == record["pid"])
        if record["id"] in TESTS_FROM:
            whole = third_party(f"function/{TESTS_FROM[record['id']]}.jsonl.zst")
            record["suffix"] = next(one["suffix"] for one in whole if one["pid"] == record["pid"])
        if record["id"] in BY_CHANCE:
            record["suffix"] = record["suffix"].replace("rand::thread_rng()", _SEEDED)
        if language == "go":
            record["prefix"] = _imported_once(record["prefix"])
        elif language == "rust":
            record["suffix"] = _RANGE.sub(r"gen_range(\1..\2)", record["suffix"])
    return records


def samples(records: Iterable[Record]) -> Iterator[Labelled]:
    """Yield the labelled programs of a set; where it has no wrong ones, also each with the code of the next."""
    chosen = [record for record in records if _labelled(record)]
    only_models = not any(candidate["label"] == "fail" for record in chosen for candidate in record["candidates"])
    for number, record in enumerate(chosen):
        candidates = _labelled(record)
        if only_models and candidates[0]["kind"] == "model":
            other = chosen[(number + 1) % len(chosen)]
            candidates = [*candidates, {**_labelled(other)[0], "label": "fail", "kind": "other"}]
        for candidate in candidates:
            must_pass = candidate["label"] == "pass"
            limits = (LIMITS if must_pass else SHORT) | ({"processes": 64} if record["language"] == "bash" else {})
            yield Labelled(
                must_pass,
                {
                    "id": f"{record['id']}/{candidate['kind']}", "problem_id": record["id"], "limits": limits,
                    "language": record["language"], "code": candidate["code"],
                    "tests": [{"prefix": record["prefix"], "suffix": record["suffix"]}],
                },
            )  # fmt: skip


def _labelled(record: Record) -> list[Record]:
    return [candidate for candidate in record["candidates"] if candidate["label"] in ("pass", "fail")]


def _is_here(language: str) -> bool:
    try:
        toolchain(language)
    except Missing:
        return False
    return True


def _check(verify: Verify, found: list[Labelled], what: str) -> None:
    results = verify([labelled.sample for labelled in found])
    assert len(results) == len(found), "two samples with one id"
    errors = []
    for must_pass, sample in found:
        result = results[sample["id"]]
        if result.masked or (result.verdict == "passed") != must_pass:
            errors.append(wrong(result, "passed" if must_pass else "a failure"))
        elif result.verdict == "passed" and result.integrity != "shared":
            errors.append(f"{result.id}: integrity {result.integrity}")
    right = sum(labelled.must_pass for labelled in found)
    verdicts = Counter(result.verdict for result in results.values())
    print(f"{what}: {right} right, {len(found) - right} wrong programs, {dict(verdicts)}")
    assert right
    assert len(found) > right or what.startswith("humanevalx")
    check(errors, len(found), what)


# -- jest --------------------------------------------------------------------------------------------------------

_TITLE = re.compile(r"""\b(describe|it|test)\(\s*(?:'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)"|`((?:\\.|[^`\\$])*)`)""")
_QUOTED = re.compile(
    r"""'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|//[^\n]*|/(?![/*])(?:\\.|[^/\\\n ])+/"""
)


def titles(text: str) -> list[str]:
    """Return the full names of the tests that a suite declares by literal names, each once."""
    plain = _QUOTED.sub(lambda found: "_" * len(found.group()), text)
    outer: list[tuple[int, str]] = []
    found = []
    for match in _TITLE.finditer(text):
        if plain[match.start()] == "_":
            continue
        depth = plain.count("{", 0, match.start()) - plain.count("}", 0, match.start())
        name = re.sub(r"\\(.)", r"\1", next(part for part in match.groups()[1:] if part is not None))
        outer = [(its, one) for its, one in outer if its < depth]
        if match.group(1) == "describe":
            outer.append((depth, name))
        else:
            found.append(" ".join([*(one for _, one in outer), name]))
    return list(dict.fromkeys(found))


def suites(records: Iterable[Record]) -> Iterator[Labelled]:
    """Yield the programs of Exercism's records, with every test required."""
    for record in records:
        required = [f"{file}::{name}" for file, text in record["files"].items() for name in titles(text)]
        for candidate in record["candidates"]:
            must_pass = candidate["label"] == "pass"
            yield Labelled(
                must_pass,
                {
                    "id": f"{record['id']}/{candidate['kind']}", "problem_id": record["id"], "language": "typescript",
                    "code": candidate["code"], "main": record["solution_path"], "limits": LONG if must_pass else SHORT,
                    "tests": [{"files": record["files"], "required": required}],
                },
            )  # fmt: skip


# -- QuixBugs ----------------------------------------------------------------------------------------------------


def junit(records: Iterable[Record]) -> Iterator[Labelled]:
    """Yield the programs of QuixBugs's records, with their JUnit tests."""
    for record in records:
        for candidate in record["candidates"]:
            fields = as_program(record, candidate)
            if fields is not None:
                must_pass = candidate["label"] == "pass"
                fields |= {"id": f"{record['id']}/{candidate['kind']}", "limits": LIMITS if must_pass else SHORT}
                yield Labelled(must_pass, {"language": "java", **fields})


# -- all of them -------------------------------------------------------------------------------------------------

_BUILDERS = {"exercism_ts": suites, "quixbugs": junit}


def _programs(third_party: ThirdParty, name: str) -> list[Labelled]:
    return list(_BUILDERS.get(name, samples)(_records(third_party, name)))


@pytest.mark.parametrize("name", SETS)
def test_programs_get_their_labels(verify: Verify, third_party: ThirdParty, name: str) -> None:
    if not _is_here(SETS[name][0]):
        pytest.skip(f"no toolchain for {SETS[name][0]}")
    _check(verify, _programs(third_party, name), name)


def test_no_labelled_program_is_left_out(third_party: ThirdParty) -> None:
    """The table by language, of which the test above runs what it says: programs expected, run and skipped."""
    expected, run = Counter[str](), Counter[str]()
    for name, (language, labelled) in SETS.items():
        expected[language] += labelled
        ids = [found.sample["id"] for found in _programs(third_party, name)]
        run[language] += sum(not one.endswith("/other") for one in ids) if _is_here(language) else 0
    print("| language | expected | run | skipped |", "| --- | --- | --- | --- |", sep="\n")
    for language, count in expected.items():
        print(f"| `{language}` | {count} | {run[language]} | {count - run[language]} |")
    missing = [language for language in expected if not _is_here(language)]
    assert not missing or os.environ.get("SCALEBOX_TEST_TOOLCHAINS") != "required"
    for language in expected.keys() - missing:
        assert run[language] == expected[language], language


def test_programs_without_a_label_pass_where_they_end_with_exit_code_0(verify: Verify, third_party: ThirdParty) -> None:
    """Answers of a model to MultiPL-E: what their tests say is what the whole program says when it runs by itself."""
    programs, alone = [], []
    for name in ("js", "ts", "rs", "sh", "pl"):
        for record in third_party(f"function/multipl_e_{name}.jsonl.zst"):
            if record["candidates"][0]["label"] != "fail-or-harness" or not _is_here(record["language"]):
                continue
            code = record["candidates"][0]["code"]
            bash = record["language"] == "bash"
            common = {"language": record["language"], "limits": LIMITS | ({"processes": 64} if bash else {})}
            tests = [{"prefix": record["prefix"], "suffix": record["suffix"]}]
            programs.append({**common, "id": record["id"], "code": code, "tests": tests})
            whole = "\n".join([record["prefix"], code, record["suffix"]])
            tests = [{"stdin": "", "stdout": r"[\s\S]*"}]
            alone.append({**common, "id": record["id"], "code": whole, "match": {"mode": "regex"}, "tests": tests})
    judged, ended = verify(programs), verify(alone)
    errors = [
        wrong(judged[one], str(ended[one].verdict))
        for one in judged
        if judged[one].masked or (judged[one].verdict == "passed") != (ended[one].verdict == "passed")
    ]
    print(Counter((program["language"], judged[program["id"]].verdict.value) for program in programs))
    check(errors, len(judged), "programs without a label")


# -- others ------------------------------------------------------------------------------------------------------


_KINDS = re.compile(r"^sandboxfusion/(?:humanevalds|mbxp)_v1_en/")
_EXITS = re.compile(r"\bexit\s*\(")
_FIRST = frozenset(["cpp", "java", "rust", "typescript", "php", "perl", "ruby"])


def test_solutions_that_exit_do_not_pass(verify: Verify, third_party: ThirdParty) -> None:
    """Of SandboxFusion's samples, all but one of the solutions end the process with status 0 instead of an answer."""
    found = []
    for record in third_party("function/sandboxfusion_samples.jsonl.zst"):
        native = record["native"]
        language = json.loads(native["labels"]).get("execution_language") if "labels" in native else None
        if not _KINDS.match(record["id"]) or language not in _FIRST:
            continue
        prefix, _, suffix = json.loads(native["test"])["code"].partition("#<INSERT>")
        sample = {
            "id": record["id"], "language": language, "code": native["canonical_solution"], "limits": LIMITS,
            "tests": [{"prefix": prefix, "suffix": suffix}],
        }  # fmt: skip
        found.append(Labelled(not re.search(r"\bexit\b", native["canonical_solution"]), sample))
    assert sum(labelled.must_pass for labelled in found) == 1
    _check(verify, found, "sandboxfusion")
