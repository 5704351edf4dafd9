if [ -z "${GIT_HANDOFF_HOOK-}" ] && command -v git-handoff >/dev/null 2>&1; then git-handoff hook @HOOK@ "$@" || :; fi
