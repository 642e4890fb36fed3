// Converts units. `memory_gb` counts GiB (2^30 bytes), as schedulers do; shares and weights are fractions in the
// contract and thousandths inside, because replicated state holds no floats.

const GIB = 2 ** 30;

export const gbToBytes = (gb: number): number => Math.round(gb * GIB);
/** Rounds to ten decimals, which keeps every byte and shows 23.54 as 23.54. */
export const bytesToGb = (bytes: number): number => Math.round((bytes / GIB) * 1e10) / 1e10;

export const fractionToMilli = (fraction: number): number => Math.round(fraction * 1000);
export const milliToFraction = (milli: number): number => milli / 1000;

/** Whether a size in GiB is an exact whole number of bytes once converted. */
export const isUsableGb = (gb: number): boolean =>
  Number.isFinite(gb) && gb >= 0 && gb * GIB <= Number.MAX_SAFE_INTEGER;
