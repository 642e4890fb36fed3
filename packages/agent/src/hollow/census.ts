// Logs how many hollow nodes are connected and how often they have greeted a server, whenever that changes. Load tests
// follow a fleet by it.

import type { Logger } from "pino";
import type { AgentNode } from "../node/node-handle.ts";

/** Fine enough to see how fast a fleet reconnects; counting ten thousand nodes takes a millisecond. */
const EVERY_MS = 250;

interface Census {
  readonly nodes: number;
  readonly connected: number;
  /** Connections of all nodes since the start. */
  readonly hellos: number;
  /** The highest count of a single node. */
  readonly hellos_most: number;
}

/** Returns a function that ends the census. */
export function keepCensus(nodes: readonly Pick<AgentNode, "connected" | "hellos">[], log: Logger): () => void {
  let logged = "";
  const timer = setInterval(() => {
    const census = count(nodes);
    const text = JSON.stringify(census);
    if (text === logged) return;
    logged = text;
    log.info(census, "hollow nodes");
  }, EVERY_MS);
  return () => clearInterval(timer);
}

export function count(nodes: readonly Pick<AgentNode, "connected" | "hellos">[]): Census {
  let connected = 0;
  let hellos = 0;
  let most = 0;
  for (const node of nodes) {
    connected += Number(node.connected());
    hellos += node.hellos();
    most = Math.max(most, node.hellos());
  }
  return { nodes: nodes.length, connected, hellos, hellos_most: most };
}
