// Amounts of time as people say them.

/** "45 s", "12 min", "3 h 20 min"; rounded up, so that nobody is promised too much. */
export function durationText(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const rest = minutes % 60;
  return rest === 0 ? `${minutes / 60} h` : `${Math.floor(minutes / 60)} h ${rest} min`;
}

export const nodesText = (count: number): string => (count === 1 ? "1 node" : `${count} nodes`);
