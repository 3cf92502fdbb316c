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
  echo $! > "$pid_file"
}

# A minute is far beyond what a start takes; the process ending earlier is noticed at once.
wait_until_ready() {
  local deadline=$((SECONDS + 60)) told=0 begun=$SECONDS
  until answers; do
    if ! server_pid > /dev/null; then
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
  stop the server  make stop
END
