#!/usr/bin/env bash
# Keep a report in one comment on a pull request, and append it to the summary of the step.
#
# The environment says what to post, so that no text of a report or a branch is part of a command:
#   REPORT, NAME  the report in Markdown, and the name that the marker of its comment has
#   NUMBER        the pull request; empty for other events
#   HEAD_SHA      the commit that was tested
#   FROM_FORK     whether it is from a fork, which explains why the token may not write
#   STATUS        the exit status of pytest; empty if it did not start
#   SUMMARY       a longer report, for the summary
#   NOTE          a line of Markdown to put before the report
# The output `posted` is true or false; there is none if there is nothing to comment on.
set -euo pipefail
export LC_ALL=C # bytes, so that text in any encoding is cut and copied

limit=64000 # bytes of a report; GitHub takes 65,536 characters in a comment
summary_limit=1000000
marker="<!-- pytest-rankcheck: $NAME -->"
run=${RUN:-$GITHUB_SERVER_URL/$GITHUB_REPOSITORY/actions/runs/$GITHUB_RUN_ID}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Say in the report why pytest did not write it.
report_why_there_is_none() {
    local why="pytest did not start"
    [ -z "${STATUS:-}" ] || why="pytest ended with exit status $STATUS and wrote no report"
    printf '## ❌ Ranking quality: %s\n\nThe log of the run says why.\n' "$why" >"$REPORT"
    echo "::warning::$why; leave --rankcheck-markdown and --rankcheck-json out of the arguments"
}

# Print at most so many bytes of a file, in whole lines.
beginning_of() {
    if [ "$(wc -c <"$1")" -le "$2" ]; then
        cat "$1"
    else
        head -c "$2" "$1" | sed '$d'
    fi
}

# Print the comment. What was cut may end within a block of code, so that nothing follows it.
comment() {
    printf '%s\n<sub>Commit %s, [run](%s)</sub>\n\n' "$marker" "${HEAD_SHA:0:10}" "$run"
    [ -z "${NOTE:-}" ] || printf '%s\n\n' "$NOTE"
    if [ "$(wc -c <"$REPORT")" -gt "$limit" ]; then
        printf '_The report is too long for a comment and was cut: its run has more._\n\n'
    fi
    beginning_of "$REPORT" "$limit"
}

# Create the comment, or update the one that has the marker.
post() {
    local comments="repos/$GITHUB_REPOSITORY/issues" ours ids
    ours='.[] | select(.user.login == "github-actions[bot]")'
    ours+=" | select(.body | startswith(\"$marker\")) | .id"
    ids=$(gh api --paginate "$comments/$NUMBER/comments?per_page=100" --jq "$ours") || return
    if [ -n "$ids" ]; then
        gh api --method PATCH "$comments/comments/${ids%%$'\n'*}" --field "body=@$work/comment"
    else
        gh api --method POST "$comments/$NUMBER/comments" --field "body=@$work/comment"
    fi
}

# Say why the comment was not posted.
explain() {
    local message=${1//$'\n'/ }
    case $message in
    *"Resource not accessible"*)
        if [ "${FROM_FORK:-}" = true ]; then
            echo "::notice::no comment: the token of a pull request from a fork may only read"
        else
            echo "::warning::no comment: the job needs the permission 'pull-requests: write'"
        fi
        ;;
    *) echo "::warning::no comment: $message" ;;
    esac
    echo "The report is in the summary of this run."
}

[ -s "$REPORT" ] || report_why_there_is_none
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
    whole=$REPORT
    [ ! -s "${SUMMARY:-}" ] || whole=$SUMMARY
    beginning_of "$whole" "$summary_limit" >>"$GITHUB_STEP_SUMMARY"
fi
if [ -z "$NUMBER" ]; then
    echo "not a pull request: the report is in the summary of this run"
    exit 0
fi
comment >"$work/comment"
posted=true
problem=$(post 2>&1 >/dev/null) || {
    posted=false
    explain "$problem"
}
echo "posted=$posted" >>"$GITHUB_OUTPUT"
