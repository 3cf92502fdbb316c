#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# run.sh MODEL_FILE: the tour. Starts the server unless one answers, asks one question, shows where the
# time went, and says how to go on. The server stays up.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$root/scripts/server.sh"

model=$root/build/models/$1
name=smollm2
question="What is a hearth? Answer in one sentence."

start() {
  mkdir -p -m 0700 "$data"
  setsid "$hearth" serve --listen "$address" --data "$data" >> "$log_file" 2>&1 < /dev/null &
  started=$!
  echo "$started" > "$pid_file"
}

# A minute is far beyond what a start takes; the process ending earlier is noticed at once.
wait_until_ready() {
  local deadline=$((SECONDS + 60)) told=0 begun=$SECONDS
  until answers; do
    if ! kill -0 "$started" 2> /dev/null; then
      tail -n 20 "$log_file" >&2
      die "The server ended while starting; its log is $log_file"
    fi
    [ "$SECONDS" -lt "$deadline" ] || die "No answer from $url within a minute; the log is $log_file"
    if [ "$told" -eq 0 ] && [ $((SECONDS - begun)) -ge 2 ]; then
      echo "Waiting for $url …" >&2
      told=1
    fi
    sleep 0.05
  done
}

# True when the server is ours and its executable has been built anew since it started.
is_outdated() {
  local pid
  pid=$(server_pid) && [[ $(readlink "/proc/$pid/exe") == *' (deleted)' ]]
}

if is_outdated; then
  echo "The running server is an older build; starting the new one in its place."
  "$root/scripts/stop.sh"
fi
if answers; then
  echo "A server answers at $url already; using it."
else
  start
  wait_until_ready
  echo "Started hearth at $url (log: $log_file)"
fi

"$hearth" import "$model" --name "$name"

printf '\n> %s\n\n' "$question"
"$hearth" run "$name" "$question"
printf '\nWhere the time went:\n\n'
"$hearth" why

# Other verbs find the server at its default address by themselves.
elsewhere=
[ "$reach" = 127.0.0.1:11435 ] || elsewhere="
  (this server is not at the default address: export HEARTH_HOST=$HEARTH_HOST HEARTH_LISTEN=$address)"

cat << END

Next:
  in a terminal    build/release/hearth run $name
  models, warmth   build/release/hearth ps
  over HTTP        curl $url/v1/chat/completions -H 'Content-Type: application/json' \\
                     -d '{"model": "$name", "messages": [{"role": "user", "content": "Hello"}]}'
  from Python      from openai import OpenAI
                   client = OpenAI(base_url="$url/v1", api_key="none")
                   reply = client.chat.completions.create(
                       model="$name", messages=[{"role": "user", "content": "Hello"}])
                   print(reply.choices[0].message.content)
  your own model   build/release/hearth import FILE.gguf --name NAME
  stop the server  make stop${elsewhere}
END
