#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Stops the server that run.sh started: asks it to drain and waits until it is gone.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$root/scripts/server.sh"

if ! pid=$(server_pid); then
  rm -f "$pid_file"
  if answers; then
    die "A server answers at $url, but \`make run\` did not start it; stop it where it was started."
  fi
  echo "No server is running."
  exit 0
fi

kill -TERM "$pid"
# Replies under way are let out; after half a minute something is wrong, and that is said, not forced.
deadline=$((SECONDS + 30))
while server_pid > /dev/null; do
  [ "$SECONDS" -lt "$deadline" ] || die "hearth ($pid) is still draining after 30 s; its log is $log_file"
  sleep 0.05
done
rm -f "$pid_file"
echo "Stopped."
