#!/bin/sh
# Replaces every instance of the named services of docker-compose.yml, in the order of the arguments. Starts as many new
# instances next to the old ones, waits until they are healthy, then stops the old ones one by one, so that no request
# fails. If a new instance does not become healthy, the old ones continue and the script ends with 1.
#
#     sh deploy/replace.sh organizations publisher forms gateway
set -eu
cd "$(dirname "$0")/.."

for service in "$@"; do
  old=$(docker compose ps --quiet "$service")
  count=$(echo "$old" | grep -c .) || { echo "No instance of $service runs." >&2; exit 1; }
  docker compose up --detach --wait --no-deps --no-recreate --scale "$service=$((2 * count))" "$service" || {
    echo "New instances of $service are not healthy. The old ones continue: $(echo $old)." >&2
    echo "Before you try again, remove the others that 'docker compose ps $service' lists with 'docker rm --force ID'." >&2
    exit 1
  }
  for id in $old; do
    docker stop "$id"
    docker rm "$id"
  done
done
