#!/bin/sh
# Refuses the samples of .env.example, by name, unless NODE_ENV=development. The one-shot check-secrets of Compose runs it
# before anything else starts. libs/service-kit/src/sample-secrets.ts applies the same rule in our own processes.
set -eu

[ "${NODE_ENV:-}" != development ] || exit 0

samples=$(env | sed -n -e 's/^\([A-Z_]*\)=sample.*/\1/p' -e 's/^\([A-Z_]*\)=c2FtcGxl$/\1/p' | sort)
[ -n "$samples" ] || exit 0

echo 'These variables are samples of .env.example, which everybody knows:' >&2
echo "$samples" >&2
echo 'Replace them in .env: npm run compose:secrets writes a new .env with fresh ones (sh deploy/compose-secrets.sh without npm).' >&2
echo 'NODE_ENV=development accepts the samples, to try things out.' >&2
exit 1
