// Judges the free space of a disk. Pure. Near the end of the log's disk new work is refused while there is still space for
// everything else: the reports of running jobs, snapshots, and the calls that an administrator makes to repair it.

export interface DiskSpace {
  readonly freeBytes: number;
  readonly sizeBytes: number;
}

/** `low`: a notice. `reserved`: only the reserve is left. */
export type SpaceLevel = "enough" | "low" | "reserved";

const MIB = 1024 * 1024;
/** Of the size of the disk, and at most; below it the disk is low. */
const LOW = { share: 0.1, bytes: 2048 * MIB } as const;
/** Kept for everything but new work. */
const RESERVE = { share: 0.05, bytes: 256 * MIB } as const;

export function levelOf({ freeBytes, sizeBytes }: DiskSpace): SpaceLevel {
  if (freeBytes < bound(RESERVE, sizeBytes)) return "reserved";
  return freeBytes < bound(LOW, sizeBytes) ? "low" : "enough";
}

const bound = ({ share, bytes }: typeof LOW | typeof RESERVE, sizeBytes: number): number =>
  Math.min(bytes, sizeBytes * share);

/** "1.2 GB of 40.0 GB". */
export const spaceText = ({ freeBytes, sizeBytes }: DiskSpace): string => `${size(freeBytes)} of ${size(sizeBytes)}`;

const size = (bytes: number): string =>
  bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
