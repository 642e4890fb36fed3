// f5, the part of the input on the hot tier, in [0, 1]; neutral when unknown.

const UNKNOWN = 0.5;

export const dataReadiness = (share: number | undefined): number =>
  share === undefined || Number.isNaN(share) ? UNKNOWN : Math.min(1, Math.max(0, share));
