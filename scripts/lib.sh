# SPDX-License-Identifier: Apache-2.0
# Sourced by the scripts beside it: where we are, and how progress is shown.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

die() {
  echo "$*" >&2
  exit 1
}

# The log's last line, for a terminal's width; of a build just its counter when lines cannot be rewritten.
last_words() {
  if [ -t 2 ]; then
    tail -n 1 "$1" | tr -d '\r' | cut -c "1-$(($(tput cols 2> /dev/null || echo 80) - 45))"
  else
    tail -n 1 "$1" | grep -oE '^\[[0-9]+/[0-9]+\]' || true
  fi
}

# step WHAT COMMAND... : runs the command with its output in a log. Says what is going on and for how
# long once it takes two seconds, and shows the log's end if it fails.
step() {
  local what=$1 log status=0 started=$SECONDS next=2 pid elapsed
  shift
  mkdir -p "$root/build/log"
  log=$(mktemp "$root/build/log/step.XXXXXX")
  "$@" > "$log" 2>&1 < /dev/null &
  pid=$!
  trap 'kill "$pid" 2> /dev/null; exit 130' INT TERM
  while kill -0 "$pid" 2> /dev/null; do
    elapsed=$((SECONDS - started))
    if [ -t 2 ] && [ "$elapsed" -ge "$next" ]; then
      printf '\r\033[K%s … %d s  %s' "$what" "$elapsed" "$(last_words "$log")" >&2
      next=$((elapsed + 1))
    elif [ "$elapsed" -ge "$next" ]; then
      echo "$what … $elapsed s $(last_words "$log")" >&2
      next=$((elapsed + 15))
    fi
    sleep 0.1
  done
  wait "$pid" || status=$?
  trap - INT TERM
  [ -t 2 ] && [ $((SECONDS - started)) -ge 2 ] && printf '\r\033[K%s: %d s\n' "$what" $((SECONDS - started)) >&2
  if [ "$status" -ne 0 ]; then
    echo "$what: failed ($status). The last lines of it:" >&2
    tail -n 60 "$log" >&2
  fi
  rm -f "$log"
  return "$status"
}
