// What a submission may say but this version does not offer. Such a submission is refused with the
// fields named rather than run without what it asked for.

import type { AllocationSpec } from "../../gen/lattice/v1/allocations_pb.ts";

/** Returns the paths of unsupported fields, in the order of the contract. */
export function unsupportedFields(spec: AllocationSpec): string[] {
  const asked: readonly (readonly [string, boolean])[] = [["sensitive", spec.sensitive]];
  return asked.filter(([, used]) => used).map(([path]) => path);
}
