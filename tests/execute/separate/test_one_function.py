"""Which tests take the solution for one function of its arguments."""

from __future__ import annotations

import pytest
from tests.execute.separate.stub import build

ONE = [
    "assert f(1) == 2\nassert f(2) == 3",
    "assert f(1) == 2\nassert f(1) == 2\nassert f(1) != 3",
    "assert math.isclose(f(1), 2)\nassert not f(x=3)",
    "result = f(1)\nassert result == 2",
    "for x, y in [(1, 2), (2, 3)]:\n    assert f(x) == y, f'{f(x)} of {x}'",
    "def check(candidate):\n    assert candidate(1) == 2\ncheck(f)",
    "def check(candidate):\n    assert candidate(1) == 2",
    "from solution import f\nassert f(1) == 2",
    "import solution\nassert solution.f(1) == 2\nassert solution.f(2) == 3",
    "assert type(f(1)) is int\nassert f(1) == 2",
    "import pytest\nwith pytest.raises(ValueError):\n    f(1)",
    "try:\n    f(1)\n    assert False\nexcept ValueError:\n    pass",
    "import unittest\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertEqual(f(1), 2)",
    "assert Solution().f(1) == 2\nassert Solution().f(2) == 3",
    ">>> f(1)\n2\n>>> x = f(2)\n>>> x\n3\n",
]
OTHER = [
    "assert f() == 1",  # of nothing: a counter, perhaps
    "f(1)\nassert f(2) == 3",  # called for its effect
    "assert f(1) == 1\nassert f(1) == 2",  # two answers to one question
    "assert f(1) == 2\nassert g(1) == 2",
    "assert f(1) == 2\nassert f.calls == 1",
    "assert f.cache_info(1)",
    "assert list(map(f, [1])) == [2]",
    "g = f\nassert g(1) == 2",
    "import solution\nsolution.f(1)",
    "import solution\nassert solution.f(1) == solution.N",
    "s = Solution()\nassert s.f(1) == 2",
    "assert Solution().f(1) == 2\nassert Solution().g(1) == 2",
    "assert Solution().f() == 2",
    "import random\nrandom.seed(1)\nassert f(1) == 2",
    "assert eval('f(1)') == 2",
    "from unittest.mock import patch\nassert f(1) == 2",
    "def check(k):\n    x = k(1)\n    assert type(x) is k",  # of the class, and not of what it answers
    ">>> f(1)\n>>> f(2)\n3\n",  # nothing is shown: called for its effect
    ">>> f(1\n3\n",
]


@pytest.mark.parametrize("test", ONE)
def test_one_function(test: str) -> None:
    assert build(test)["one_function"] is True


@pytest.mark.parametrize("test", OTHER)
def test_state(test: str) -> None:
    assert build(test)["one_function"] is False


def test_what_the_set_up_does_counts() -> None:
    assert build("assert f(1) == 2", "import math\n")["one_function"] is True
    assert build("assert f(1) == 2", "f(0)\n")["one_function"] is False
