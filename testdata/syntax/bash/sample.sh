#!/usr/bin/env bash
# Rotates the snapshots of a folder and reports what was kept.

set -euo pipefail
shopt -s nullglob

readonly PROGRAM="${0##*/}"
readonly -a DEFAULT_KEEP=(7 4 12)
declare -A counters=([kept]=0 [removed]=0)
verbose=0
target=

usage() {
  cat <<EOF
Usage: $PROGRAM [-v] [-n NUMBER] FOLDER

  -v          say what is done
  -n NUMBER   keep NUMBER snapshots (default ${DEFAULT_KEEP[0]})
EOF
  exit "${1:-0}"
}

log() {
  local level=$1
  shift
  if (( verbose > 0 )) || [[ $level == error ]]; then
    printf '%s: %s\n' "$level" "$*" >&2
  fi
}

function count_up {
  local name=$1
  counters[$name]=$(( ${counters[$name]:-0} + 1 ))
}

newest_first() {
  local folder=$1
  find "$folder" -mindepth 1 -maxdepth 1 -type d -printf '%T@ %p\n' |
    sort -rn |
    cut -d' ' -f2-
}

checksum() {
  local file=$1 sum
  sum=$(sha256sum "$file" | awk '{ print $1 }')
  echo "${sum:0:12}"
}

rotate() {
  local folder=$1 keep=$2 number=0
  while IFS= read -r snapshot; do
    number=$((number + 1))
    if [ "$number" -le "$keep" ]; then
      log info "keep ${snapshot}"
      count_up kept
    elif [[ -e "$snapshot/.pinned" && ! -L "$snapshot" ]]; then
      log info "pinned $snapshot"
    else
      rm -rf -- "$snapshot" || log error "cannot remove $snapshot"
      count_up removed
    fi
  done < <(newest_first "$folder")
}

parse() {
  local keep=${DEFAULT_KEEP[0]}
  while getopts ':vn:h' option; do
    case $option in
      v) verbose=1 ;;
      n)
        keep=$OPTARG
        [[ $keep =~ ^[0-9]+$ ]] || usage 2
        ;;
      h | \?) usage ;;
      *) usage 2 ;;
    esac
  done
  shift $((OPTIND - 1))
  target=${1-}
  echo "$keep"
}

main() {
  local keep
  keep=$(parse "$@")
  if [ -z "$target" ]; then
    usage 2
  fi

  for file in "$target"/*.tar "$target"/*.zip; do
    log info "$(basename "$file"): $(checksum "$file")"
  done

  for ((i = 0; i < 3; i++)); do
    rotate "$target" "$keep" && break
    sleep 1
  done

  until [ -w "$target" ]; do
    sleep 0.1
  done

  {
    echo "kept ${counters[kept]}"
    echo "removed ${counters[removed]}"
  } > "$target/report.txt" 2>&1

  trap 'rm -f "$target/.lock"' EXIT INT
  (cd "$target" && touch .lock) &
  wait
  grep -c . <<< "$keep" > /dev/null
}

main "$@"
