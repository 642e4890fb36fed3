// What a submission may say but this version does not offer. Such a submission is refused with the
// fields named rather than run without what it asked for.

import type { AllocationSpec } from "../../gen/lattice/v1/allocations_pb.ts";

/** Strategies that ask for nothing beyond what every allocation gets. */
const PLAIN_CHECKPOINTS: readonly string[] = ["", "none"];

/** Paths of the fields that ask for something not offered, in the order of the contract. */
export function unsupportedFields(spec: AllocationSpec): string[] {
  const { data } = spec;
  const asked: readonly (readonly [string, boolean])[] = [
    ["data.defaults", data?.defaults === true],
    ["checkpoint.strategy", !PLAIN_CHECKPOINTS.includes(spec.checkpoint?.strategy.toLowerCase() ?? "")],
    ["sensitive", spec.sensitive],
  ];
  return asked.filter(([, used]) => used).map(([path]) => path);
}
