# SPDX-License-Identifier: Apache-2.0
# Sourced by run.sh and stop.sh: which server is meant, and is it there.

hearth=$root/build/release/hearth
data=${HEARTH_DATA:-${XDG_DATA_HOME:-$HOME/.local/share}/hearth}
address=${HEARTH_LISTEN:-127.0.0.1:11435}
url=http://$address
pid_file=$data/make-run.pid
log_file=$data/make-run.log
export HEARTH_HOST=${HEARTH_HOST:-$address}

# Curl's exit status tells an answer from silence; what the answer says is the caller's to judge.
answers() { curl --silent --fail --max-time 2 --output /dev/null "$url/health"; }

# The process that run.sh started, if it still is one of ours.
server_pid() {
  local pid
  pid=$(cat "$pid_file" 2> /dev/null) || return 1
  [ "$(readlink "/proc/$pid/exe" 2> /dev/null | sed 's/ (deleted)$//')" = "$(readlink -f "$hearth")" ] || return 1
  echo "$pid"
}
