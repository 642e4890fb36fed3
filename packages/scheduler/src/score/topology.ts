// f4, the fit to the topology, in [0, 1]. In the queue it counts the inside of a node only: how many groups a job spans
// ranks the placements of one job, it does not order wide jobs behind narrow ones. The stored score of a placement adds
// what its nodes are worth: 1 - groups used / groups available. One node: inside only; several: 0.7 between and 0.3
// inside. Low efficiency of earlier attempts lowers it.

interface QueueTopology {
  /** The quality of links and memory inside a node, in [0, 1]. */
  readonly inside: number;
  /** In [0, 1]; 1 when unknown. */
  readonly efficiency: number;
}

interface PlacedTopology extends QueueTopology {
  readonly nodes: number;
  readonly groupsUsed: number;
  readonly groupsAvailable: number;
}

const BETWEEN = 0.7;

/** Returns the fit that orders the queue. */
export const queueTopology = ({ inside, efficiency }: QueueTopology): number => inUnit(inside * efficiency);

/** Returns the fit of chosen nodes. */
export function placedTopology({ nodes, groupsUsed, groupsAvailable, inside, efficiency }: PlacedTopology): number {
  const between = groupsAvailable <= 0 ? 0 : Math.max(0, 1 - groupsUsed / groupsAvailable);
  const fitness = nodes <= 1 ? inside : BETWEEN * between + (1 - BETWEEN) * inside;
  return inUnit(fitness * efficiency);
}

const inUnit = (value: number): number => Math.min(1, Math.max(0, value));
