"""SQL, by the shell of SQLite: what is read as standard input is SQL, too, and runs first, over an empty database."""

from scalebox.languages.language import Language, SelfTest

#: Statements end at their first step, so that they are parsed and not run: whatever is wrong with tables that are not
#: there yet, or with that end, is no error of syntax.
_CHECK = (
    '"$1" -batch :memory: ".progress 1 --limit 1" ".read $2" > found 2>&1 < /dev/null;'
    " if grep -E 'syntax error|unrecognized token|incomplete input|unknown command' found; then exit 1; fi"
)

LANGUAGE = Language(
    name="sql",
    title="SQL (SQLite)",
    aliases=("sqlite", "sqlite3"),
    extensions=(".sql",),
    tools=("sqlite3",),
    source="solution.sql",
    build=(("/bin/sh", "-c", _CHECK, "sh", "{sqlite3}", "{source}"),),
    run=("{sqlite3}", "-batch", "-bail", ":memory:", ".read /dev/stdin", ".read {program}/solution.sql"),
    error=r"^(?:\w+ )?[Ee]rror(?:: near| near) line (?P<line>\d+)[^:]*: (?P<message>.*)$",
    memory_text="out of memory",
    memory_exit=1,
    install="apt-get install sqlite3",
    self_test=SelfTest(
        "SELECT sum(x) FROM numbers;\n", "CREATE TABLE numbers(x INT);\nINSERT INTO numbers VALUES (20), (22);\n"
    ),
)
