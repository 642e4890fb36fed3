// How many launches run at a time on this node: each costs a process, which counts against the limits of its attempt. A user
// has a part of the places only, so that others can launch on a shared node.

import { failed, ok, type Result } from "@lattice/core";

const MAX_LAUNCHES = 512;
const MAX_PER_USER = 64;

interface LaunchPlaces {
  /** Takes a place, and returns its release. */
  take(user: string): Result<() => void>;
  /** Takes a place for a launch that runs already. */
  keep(user: string): () => void;
}

export function launchPlaces(): LaunchPlaces {
  const perUser = new Map<string, number>();
  let all = 0;

  function keep(user: string): () => void {
    let isTaken = true;
    all += 1;
    perUser.set(user, (perUser.get(user) ?? 0) + 1);
    return () => {
      if (!isTaken) return;
      isTaken = false;
      all -= 1;
      const left = (perUser.get(user) ?? 1) - 1;
      if (left === 0) perUser.delete(user);
      else perUser.set(user, left);
    };
  }

  return {
    keep,
    take(user) {
      if ((perUser.get(user) ?? 0) >= MAX_PER_USER)
        return failed(`${MAX_PER_USER} launches of one user run on this node already`);
      if (all >= MAX_LAUNCHES) return failed(`there are ${MAX_LAUNCHES} launches on this node already`);
      return ok(keep(user));
    },
  };
}
