// Durations and counts as text.

/** Returns "45 s", "12 min" or "3 h 20 min", rounded up, so that no start is announced too early. */
export function durationText(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const rest = minutes % 60;
  return rest === 0 ? `${minutes / 60} h` : `${Math.floor(minutes / 60)} h ${rest} min`;
}

export const nodesText = (count: number): string => (count === 1 ? "1 node" : `${count} nodes`);
