// All servers at one index have the state that the log defines; at the end all are at the end of the log, and every
// node is ready.
import type { History } from "../history.ts";
import type { Violation } from "./check.ts";
import type { Folded } from "./fold.ts";

export function checkStates({ polls, end }: History, folded: Folded): Violation[] {
  const found: Violation[] = [];
  for (const { server, index, hash } of [...polls, ...end.servers]) {
    if (index === 0) continue;
    const expected = folded.hashes.get(index);
    if (expected === undefined) {
      // After a break in the chain nothing is known; the chain rule reports that once.
      if (folded.broken.length === 0)
        found.push({ rule: "state", detail: `${server} was at entry ${index}, which the log does not hold` });
    } else if (expected !== hash) {
      found.push({ rule: "state", detail: `${server} has another state at entry ${index} than the log leads to` });
    }
  }
  for (const { server, index } of end.servers) {
    if (index !== folded.lastIndex)
      found.push({ rule: "state", detail: `${server} ends at entry ${index}, the log at ${folded.lastIndex}` });
  }
  for (const node of end.nodesNotReady) found.push({ rule: "left", detail: `node ${node} is not ready at the end` });
  return found;
}
