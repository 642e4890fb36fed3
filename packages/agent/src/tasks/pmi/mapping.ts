// Which ranks share a node, in the format of MPI libraries: `(vector,(first node,nodes,ranks per node),...)`, one
// group for every run of nodes with the same number of ranks.

export function processMapping(tasksByNode: readonly number[]): string {
  const groups: { node: number; nodes: number; tasks: number }[] = [];
  for (const [node, tasks] of tasksByNode.entries()) {
    const last = groups.at(-1);
    if (last?.tasks === tasks) last.nodes += 1;
    else groups.push({ node, nodes: 1, tasks });
  }
  return `(vector,${groups.map(({ node, nodes, tasks }) => `(${node},${nodes},${tasks})`).join(",")})`;
}
