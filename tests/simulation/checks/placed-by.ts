// Whether an allocation was placed by this very entry. Its instant does not tell: after a jump of the clock others may have come at
// the same one.

import type { AllocationId, Applied } from "@lattice/core";

export const isPlacedBy = ({ events }: Pick<Applied, "events">, id: AllocationId): boolean =>
  events.some(
    ({ kind, allocation, from, to }) =>
      kind === "allocation_changed" && allocation === id && to === "staging" && from !== to,
  );
