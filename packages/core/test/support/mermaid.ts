// The page of both state machines, printed from the tables that the code obeys.

import { allocationMoves, nodeMoves } from "@lattice/core";

export const stateMachinesPage = (): string => `# State machines

Printed from the tables in \`packages/core\`. A move that is not drawn here is refused.

## Allocation

A policy requeue is one move to pending. Completed, failed and cancelled are final.

${diagram(allocationMoves, "pending")}

## Node

Every state can go down, by disabling or by a hardware report; down carries its cause (silent, disabled, quarantined,
hardware), and a node that is down for one cause can go down for another. Only silence heals by a heartbeat.

${diagram(nodeMoves, "unknown")}
`;

function diagram(moves: Readonly<Record<string, readonly string[]>>, first: string): string {
  const lines = Object.entries(moves).flatMap(([from, targets]) =>
    targets.length === 0 ? [`  ${from} --> [*]`] : targets.map((to) => `  ${from} --> ${to}`),
  );
  return ["```mermaid", "stateDiagram-v2", `  [*] --> ${first}`, ...lines, "```"].join("\n");
}
