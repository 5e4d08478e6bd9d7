#!/usr/bin/env bash
# Post the report of a run whose token may only read, from a workflow_run job that may comment.
#
# Strangers wrote the report, whatever their run says: it is text, and nothing in it is evaluated.
# GitHub says which pull request it belongs to, not the artifact.
#   REPORT, NAME              as in post_comment.sh
#   HEAD_SHA                  the commit that the run tested
#   HEAD_OWNER, HEAD_BRANCH   where the run took it from
#   RUN                       the page of the run
set -euo pipefail

if [ ! -f "$REPORT" ] || [ -L "$REPORT" ] || [ ! -s "$REPORT" ]; then
    echo "no report to post: the run has commented itself, or did not get that far"
    exit 0
fi
[[ $HEAD_SHA =~ ^[0-9a-f]+$ ]]
number=$(
    gh api --method GET "repos/$GITHUB_REPOSITORY/pulls" \
        --raw-field state=open --raw-field "head=$HEAD_OWNER:$HEAD_BRANCH" \
        --jq ".[] | select(.head.sha == \"$HEAD_SHA\") | .number"
)
if ! [[ $number =~ ^[0-9]+$ ]]; then
    echo "::notice::no comment: commit $HEAD_SHA is not that of exactly one open pull request"
    exit 0
fi
# It mentions nobody, and has no comment that another tool could take for one of its own.
text=$(mktemp)
LC_ALL=C sed -E -e 's/<!--/\&lt;!--/g' -e 's/&lt;!-- -->/<!-- -->/g' \
    -e $'s/(^|[^A-Za-z0-9_])@([A-Za-z0-9])/\\1@\xe2\x80\x8b\\2/g' "$REPORT" >"$text"
export REPORT=$text NUMBER=$number
export NOTE="_A run with a read-only token, such as a fork's, wrote this report: check it in the run._"
exec bash "$(dirname "$0")/post_comment.sh"
