// Requests about images and caches to agents. A request goes down the node's stream with an id, and the answer comes back
// the same way. A request is forgotten after its deadline.

import { create } from "@bufbuild/protobuf";
import { type Duration, duration, type NodeId } from "@lattice/core";
import { ProblemError, pb } from "@lattice/wire";
import type { Clock } from "../../base/clock.ts";
import type { AgentHub } from "./hub.ts";

export type ImageAsk = NonNullable<pb.ImageRequest["ask"]>;

/** For answers from memory or from a registry's index. */
const QUERY_DEADLINE = duration(15_000);
/** An image may have to be fetched first; the node continues after this deadline. */
const WARM_DEADLINE = duration(300_000);
/** Hung drivers answer slowly; the agent gives up before this. */
const CONDITION_DEADLINE = duration(60_000);

export interface ImageRelay {
  ask(node: NodeId, ask: ImageAsk, signal: AbortSignal): Promise<pb.ImageAnswer>;
  answered(node: NodeId, answer: pb.ImageAnswer): void;
}

function imageDeadline(ask: ImageAsk): Duration {
  if (ask.case === "condition") return CONDITION_DEADLINE;
  return ask.case === "warm" ? WARM_DEADLINE : QUERY_DEADLINE;
}

interface Waiting {
  readonly node: NodeId;
  readonly give: (answer: pb.ImageAnswer) => void;
}

export function createImageRelay(hub: AgentHub, clock: Clock): ImageRelay {
  const waiting = new Map<string, Waiting>();
  let counter = 0;

  return {
    ask(node, ask, signal) {
      counter += 1;
      const requestId = `images-${counter}`;
      return new Promise((resolve, reject) => {
        const settle = () => {
          waiting.delete(requestId);
          cancel();
          signal.removeEventListener("abort", abandon);
        };
        const abandon = () => {
          settle();
          reject(signal.reason);
        };
        const cancel = clock.after(imageDeadline(ask), () => {
          settle();
          reject(late(node));
        });
        signal.addEventListener("abort", abandon, { once: true });
        waiting.set(requestId, {
          node,
          give(answer) {
            settle();
            resolve(answer);
          },
        });
        const value = create(pb.ImageRequestSchema, { requestId, ask });
        if (hub.send(node, { case: "imageRequest", value })) return;
        settle();
        reject(unreachable(node));
      });
    },
    answered(node, answer) {
      const one = waiting.get(answer.requestId);
      if (one?.node === node) one.give(answer);
    },
  };
}

const unreachable = (node: NodeId) =>
  new ProblemError("node_unreachable", { detail: `The agent of node ${node} is not connected.` });

const late = (node: NodeId) =>
  new ProblemError("node_unreachable", { detail: `The agent of node ${node} did not answer in time.` });
