#!/usr/bin/env bash
# Fetch the base commit of a pull request, and name it: the output `reference`, none without one.
#
# BASE is the base as the event names it. The merge commit that actions/checkout takes may be of a
# newer one: its first parent, which a shallow clone names, though it does not have it.
set -euo pipefail

[ -n "$BASE" ] || exit 0
if [[ $GITHUB_REF == refs/pull/*/merge && $(git rev-parse HEAD) == "$GITHUB_SHA" ]]; then
    BASE=$(git cat-file commit HEAD | awk '$1 == "parent" && !found++ { print $2 }')
fi
if ! git cat-file -e "$BASE^{commit}" 2>/dev/null &&
    ! git fetch --no-tags --depth=1 origin "$BASE"; then
    echo "::error::the base commit $BASE cannot be fetched: check out with fetch-depth: 0"
    exit 1
fi
reference=$BASE
if [ -n "${GITHUB_BASE_REF:-}" ]; then
    # The commands that a failure prints work in every clone if they name the branch.
    reference=origin/$GITHUB_BASE_REF
    git update-ref "refs/remotes/$reference" "$BASE"
fi
echo "reference=$reference" >>"$GITHUB_OUTPUT"
