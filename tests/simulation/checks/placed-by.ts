// Tells whether an allocation was placed by this entry. Its time does not, because a clock jump can give several
// entries the same time.

import type { AllocationId, Applied } from "@lattice/core";

export const isPlacedBy = ({ events }: Pick<Applied, "events">, id: AllocationId): boolean =>
  events.some(
    ({ kind, allocation, from, to }) =>
      kind === "allocation_changed" && allocation === id && to === "staging" && from !== to,
  );
