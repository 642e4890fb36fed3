// Sends the addresses of a network domain's nodes to each of them. An agent that reconnects may have restarted, or have
// another address, so it is sent all of its domains again.

import { create } from "@bufbuild/protobuf";
import { duration } from "@lattice/core";
import { pb } from "@lattice/wire";
import type { ControllerContext } from "../context/context.ts";
import type { Controller } from "../periodic/periodic.ts";
import { decideOverlay, overlayKey } from "./decide.ts";

export function overlayController(
  { replica, hub }: Pick<ControllerContext, "replica" | "hub">,
  signal: AbortSignal,
): Controller {
  let sent = new Map<string, string>();
  const leave = hub.onConnect((node) => {
    for (const key of [...sent.keys()]) if (key.startsWith(`${node} `)) sent.delete(key);
  });
  signal.addEventListener("abort", leave, { once: true });
  return {
    name: "overlay",
    // Until then the nodes of a new domain do not reach each other.
    every: duration(250),
    run: async () => {
      const decided = decideOverlay(replica.view, hub.overlay, sent);
      sent = new Map(decided.sent);
      for (const intent of decided.intents) {
        const { node, vni, complete } = intent;
        const value = create(pb.NetworkPeersSchema, { vni, complete, addresses: [...intent.addresses] });
        // A disconnected agent gets them when it reconnects.
        if (!hub.send(node, { case: "networkPeers", value })) sent.delete(overlayKey(intent));
      }
    },
  };
}
