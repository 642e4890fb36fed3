#!/bin/sh
# Counts steps into a file, and takes checkpoints on SIGUSR1.
n=0
[ -z "$LATTICE_RESUME_FROM" ] || n=$(cat "$LATTICE_RESUME_FROM/count")
save() {
  . "$LATTICE_CHECKPOINT_REQUEST"
  [ -z "$SLOW" ] || sleep "$SLOW"
  mkdir -p "$CHECKPOINT_DIR"
  echo "$n" >"$CHECKPOINT_DIR/count"
  echo "$CHECKPOINT_NUMBER" >"$LATTICE_CHECKPOINT_DONE"
  [ "$CHECKPOINT_THEN" = continue ] || exit 0
}
trap save USR1
while [ ! -e "$2" ]; do
  n=$((n + 1))
  echo "$n" >>"$1"
  sleep 0.02
done
