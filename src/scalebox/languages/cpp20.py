"""C++20, by g++, in all else as C++17."""

import msgspec

from scalebox.languages import cpp
from scalebox.languages.language import SelfTest

LANGUAGE = msgspec.structs.replace(
    cpp.LANGUAGE,
    name="cpp20",
    title="C++20",
    aliases=("c++20", "gnu++20"),
    extensions=(),
    tag="cpp",
    build=cpp.build("gnu++20"),
    prepare=cpp.prepare("gnu++20"),
    self_test=SelfTest(
        "#include <bits/stdc++.h>\nint main() {\n  std::vector<int> v(2);\n  for (auto& x : v) std::cin >> x;\n"
        "  int sum = 0;\n  for (int x : v | std::views::all) sum += x;\n  std::cout << sum << '\\n';\n}\n"
    ),
)
