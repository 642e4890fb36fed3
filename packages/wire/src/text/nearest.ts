// Finds the known name that a user most likely meant. Case, `-` and `_` are ignored; a name that differs in more than
// about a third of its length is not suggested.

/** Longer names are never compared: the cost is the product of the lengths. */
const MAX_LENGTH = 64;

export function nearest(name: string, known: Iterable<string>): string | null {
  if (name.length > MAX_LENGTH) return null;
  const wanted = plain(name);
  let best: string | null = null;
  let bestDistance = Math.max(1, Math.floor(wanted.length / 3)) + 1;
  for (const candidate of known) {
    const distance = editDistance(wanted, plain(candidate));
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

const plain = (name: string): string => name.toLowerCase().replace(/[-_]/g, "");

/** Levenshtein distance, computed one row at a time. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replace = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, replace));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
