#!/bin/sh
# git handoff: @HOOK@. Written by 'git handoff hooks install'; 'git handoff hooks uninstall' brings back what was here.
# What stood here before is kept beside this file as @HOOK@.handoff-chained and runs first; its verdict counts.
hook=@HOOK@
program=@PROGRAM@

case $0 in
*/*) here=${0%/*} ;;
*) here=. ;;
esac
chained=$here/$hook.handoff-chained

# Another hook manager may move this file, call it from its own hook, and be called by it: a circle ends here.
case $0 in
*/"$hook" | "$hook") ;;
*) [ "${GIT_HANDOFF_CHAINED-}" != "$chained" ] || exit 0 ;;
esac

# Whatever goes wrong in here, git and its user do not notice.
handoff() {
    [ -z "${GIT_HANDOFF_HOOK-}" ] || return 0
    case $hook in
    post-commit | post-checkout | post-merge)
        at=${GIT_DIR:-.git}
        for busy in rebase-merge rebase-apply sequencer CHERRY_PICK_HEAD REVERT_HEAD BISECT_LOG; do
            [ ! -e "$at/$busy" ] || return 0
        done
        ;;
    esac
    # A checkout of single files moves no branch.
    [ "$hook" != post-checkout ] || [ "${3-}" = 1 ] || return 0
    [ -x "$program" ] || program=$(command -v git-handoff) || return 0
    "$program" hook "$hook" "$@" || return 0
}

if [ ! -x "$chained" ]; then
    handoff "$@"
    exit 0
fi

GIT_HANDOFF_CHAINED=$chained
export GIT_HANDOFF_CHAINED
if [ "$hook" = post-rewrite ]; then
    # Both read the map of commits. The mark keeps the line ends that a substitution would take away.
    map=$(cat && echo .)
    map=${map%.}
    printf '%s' "$map" | "$chained" "$@"
    verdict=$?
    printf '%s' "$map" | handoff "$@"
else
    # Standard input is the chained hook's alone: none of the others needs it here.
    "$chained" "$@"
    verdict=$?
    if [ "$verdict" = 0 ] || [ "$hook" != pre-push ]; then
        handoff "$@" </dev/null
    fi
fi
exit "$verdict"
