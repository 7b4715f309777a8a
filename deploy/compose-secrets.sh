#!/bin/sh
# Writes .env: a copy of .env.example in which a fresh secret of 32 random bytes, in hexadecimal, replaces each sample.
# It never changes an existing .env, because the databases of a cluster keep the passwords that they were created with.
set -eu
cd "$(dirname "$0")/.."
umask 077

if [ -e .env ]; then
  echo '.env already exists and was not changed. For a new one, move it first. A cluster with data needs the secrets in it.' >&2
  exit 1
fi

random_secret() {
  secret=$(od -An -v -N32 -tx1 /dev/urandom | tr -d ' \n')
  [ ${#secret} -eq 64 ] || { echo '/dev/urandom returned no random bytes.' >&2; exit 1; }
  echo "$secret"
}

with_fresh_secrets() {
  while IFS= read -r line; do
    case $line in
      [A-Z]*=sample*) secret=$(random_secret); printf '%s=%s\n' "${line%%=*}" "$secret" ;;
      *) printf '%s\n' "$line" ;;
    esac
  done
}

content=$(with_fresh_secrets < .env.example)
set -C
printf '%s\n' "$content" > .env
echo 'Wrote .env with fresh secrets, readable only by you. Keep a copy in a safe place.'
