// Parses node lists: n1, n1,n2, or ranges such as n[0-199].

import { expandHostlist, ProblemError } from "@lattice/wire";

export function expandHosts(words: readonly string[]): readonly string[] {
  const names = words.flatMap((word) => {
    const expanded = expandHostlist(word);
    if (expanded === null) {
      throw new ProblemError("invalid_argument", {
        detail: `"${word}" is not a list of nodes`,
        hint: "Write n1, n1,n2 or n[0-199]; at most 10,000 nodes.",
      });
    }
    return expanded;
  });
  return [...new Set(names)];
}
