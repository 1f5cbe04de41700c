#!/bin/sh
# Run tests: `tools/tests.sh PYTHON -m pytest ARGUMENT…`. What fails is run once more, by itself: on a machine that
# others keep busy, a process may get no CPU for seconds. What fails twice fails. The first report stands above the second.
"$@" && exit 0
status=$?
[ "$status" -eq 1 ] || exit "$status" # not tests that failed, but a run that could not be made
echo "=== once more, one at a time: what failed ==="
unset SCALEBOX_TEST_UNTIL # what failed is not skipped for the hour
exec "$@" -n 0 --last-failed --last-failed-no-failures none
