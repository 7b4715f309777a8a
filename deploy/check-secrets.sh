#!/bin/sh
# Fails with the names of the variables that contain samples of .env.example, unless NODE_ENV=development. The one-shot
# check-secrets of Compose runs it before anything else. libs/service-kit/src/sample-secrets.ts is the same rule for our
# own processes.
set -eu

[ "${NODE_ENV:-}" != development ] || exit 0

samples=$(env | sed -n 's/^\([A-Z_]*\)=sample.*/\1/p' | sort)
[ -n "$samples" ] || exit 0

echo 'These variables contain samples of .env.example, which are publicly known:' >&2
echo "$samples" >&2
echo 'Replace them in .env, or write a new .env: npm run compose:secrets (without npm: sh deploy/compose-secrets.sh).' >&2
echo 'To try things out with the samples, set NODE_ENV=development.' >&2
exit 1
