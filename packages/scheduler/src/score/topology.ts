// f4, the fit to the topology, in [0, 1]. Between nodes: 1 - groups needed / groups available, so that fewer groups
// score higher. Inside a node: the quality of links and memory. One node: inside only; several: 0.7 between and 0.3
// inside. Low efficiency of earlier attempts lowers it.

interface Topology {
  readonly nodes: number;
  readonly groupsNeeded: number;
  readonly groupsAvailable: number;
  /** In [0, 1]. */
  readonly inside: number;
  /** In [0, 1]; 1 when unknown. */
  readonly efficiency: number;
}

const BETWEEN = 0.7;

export function topology({ nodes, groupsNeeded, groupsAvailable, inside, efficiency }: Topology): number {
  const between = groupsAvailable <= 0 ? 0 : Math.max(0, 1 - groupsNeeded / groupsAvailable);
  const fitness = nodes <= 1 ? inside : BETWEEN * between + (1 - BETWEEN) * inside;
  return Math.min(1, Math.max(0, fitness * efficiency));
}
