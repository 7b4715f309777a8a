#!/bin/sh
# Writes .env: a copy of .env.example in which a fresh secret of 32 random bytes, in hexadecimal, replaces each sample.
# An .env that exists stays as it is: the databases of the cluster keep the passwords that they were made with.
set -eu
cd "$(dirname "$0")/.."
umask 077

if [ -e .env ]; then
  echo '.env exists already and stays as it is. To start anew, move it away; a cluster that has data needs the secrets in it.' >&2
  exit 1
fi

random_secret() {
  secret=$(od -An -v -N32 -tx1 /dev/urandom | tr -d ' \n')
  [ ${#secret} -eq 64 ] || { echo 'No random bytes from /dev/urandom.' >&2; exit 1; }
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
echo 'Wrote .env with fresh secrets, which only you can read. Keep a copy in a safe place.'
