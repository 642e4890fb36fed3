// The list of all faults by name.
import { agentFaults } from "./agents.ts";
import { clockFaults } from "./clocks.ts";
import { diskFaults } from "./disks.ts";
import type { Fault } from "./fault.ts";
import { removeMemberData } from "./lost-data.ts";
import { memberFaults } from "./members.ts";
import { networkFaults } from "./network.ts";
import { serverFaults } from "./servers.ts";
import { storm } from "./storm.ts";

export const FAULTS: readonly Fault[] = [
  ...serverFaults,
  ...memberFaults,
  removeMemberData,
  ...networkFaults,
  ...agentFaults,
  ...diskFaults,
  ...clockFaults,
  storm,
];

/** Throws for an unknown name. */
export function faultsNamed(names: readonly string[]): readonly Fault[] {
  return names.map((name) => {
    const fault = FAULTS.find((candidate) => candidate.name === name);
    if (fault !== undefined) return fault;
    throw new Error(`there is no fault "${name}"; there are ${FAULTS.map((known) => known.name).join(", ")}`);
  });
}
