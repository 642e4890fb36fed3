// Expected releases by requested times: (time, nodes) pairs, latest first, because most removals are of the earliest
// and then move little. Entries of equal time and size are interchangeable, so no job is named.

interface Releases {
  readonly times: Float64Array;
  readonly sizes: Int32Array;
  size: number;
}

/** The reservation of the head of the queue. */
export interface Shadow {
  /** The earliest instant at which the head fits by requested times. */
  time: number;
  /** Nodes free then beyond its need, with all releases up to and including that instant. */
  extra: number;
}

export const createReleases = (capacity: number): Releases => ({
  times: new Float64Array(capacity + 1),
  sizes: new Int32Array(capacity + 1),
  size: 0,
});

export function addRelease(releases: Releases, time: number, nodes: number): void {
  const { times, sizes } = releases;
  let hole = releases.size;
  releases.size += 1;
  for (; hole > 0 && (times[hole - 1] as number) < time; hole -= 1) {
    times[hole] = times[hole - 1] as number;
    sizes[hole] = sizes[hole - 1] as number;
  }
  times[hole] = time;
  sizes[hole] = nodes;
}

export function removeRelease(releases: Releases, time: number, nodes: number): void {
  const { times, sizes, size } = releases;
  let place = size - 1;
  while (place >= 0 && ((times[place] as number) !== time || (sizes[place] as number) !== nodes)) place -= 1;
  if (place < 0) throw new Error(`no release of ${nodes} nodes at ${time}`);
  for (; place < size - 1; place += 1) {
    times[place] = times[place + 1] as number;
    sizes[place] = sizes[place + 1] as number;
  }
  releases.size -= 1;
}

/** Writes the shadow of a request for this many nodes into `shadow`. */
export function findShadow({ times, sizes, size }: Releases, need: number, free: number, shadow: Shadow): void {
  let coming = free;
  let place = size - 1;
  while (place >= 0 && coming < need) {
    coming += sizes[place] as number;
    place -= 1;
  }
  const time = times[place + 1] as number;
  while (place >= 0 && (times[place] as number) === time) {
    coming += sizes[place] as number;
    place -= 1;
  }
  shadow.time = time;
  shadow.extra = coming - need;
}
