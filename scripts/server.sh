# SPDX-License-Identifier: Apache-2.0
# Sourced by run.sh and stop.sh: which server is meant, and is it there.

hearth=$root/build/release/hearth
data=${HEARTH_DATA:-${XDG_DATA_HOME:-$HOME/.local/share}/hearth}
address=${HEARTH_LISTEN:-127.0.0.1:11435}
# A server that listens everywhere is reached on the loopback.
reach=${address/#0.0.0.0:/127.0.0.1:}
url=http://$reach
pid_file=$data/make-run.pid
log_file=$data/make-run.log
export HEARTH_HOST=${HEARTH_HOST:-$reach}

# Curl's exit status tells an answer from silence; what the answer says is the caller's to judge.
answers() { curl --noproxy "*" --silent --fail --max-time 2 --output /dev/null "$url/health"; }

# The process that run.sh started, if it still is one of ours. A zombie has no executable any more; a
# linker that replaced the file since may have renamed the old one, which then reads "… (deleted)".
server_pid() {
  local pid folder
  pid=$(cat "$pid_file" 2> /dev/null) || return 1
  folder=$(readlink -f "$root/build/release")
  case "$(readlink "/proc/$pid/exe" 2> /dev/null)" in
    "$folder/hearth" | "$folder/"*' (deleted)') echo "$pid" ;;
    *) return 1 ;;
  esac
}
