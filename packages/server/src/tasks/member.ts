// One node of a launch, as the leader sees it: how to speak to it, and how far what it says has come.

import type { pb } from "@lattice/wire";
import type { NodeShare } from "./layout.ts";

export interface NodeStream {
  send(order: pb.TasksOrder["order"]): void;
  end(): void;
  /** Another server may know more. */
  drop(): void;
}

export interface Member {
  readonly share: NodeShare;
  stream: NodeStream | null;
  /** It says again whatever was not taken, when it is asked to. */
  repeats: boolean;
  /** It has answered since this server leads. */
  seen: boolean;
  /** Number of the newest report that is for the caller. */
  received: number;
  /** Up to here the caller has everything. */
  taken: number;
  confirmed: number;
  unconfirmedBytes: number;
  /** Number of the newest report that asked about names. */
  asked: number;
  done: boolean;
  /** Its end has its place behind all else that is for the caller. */
  delivered: boolean;
  /** It did not come back. */
  lost: boolean;
  cancelWait: () => void;
  /** Answers about names that it may not have got. */
  named: readonly pb.TasksNamed[];
}

export const newMember = (share: NodeShare): Member => ({
  share,
  stream: null,
  repeats: true,
  seen: false,
  received: 0,
  taken: 0,
  confirmed: 0,
  unconfirmedBytes: 0,
  asked: 0,
  done: false,
  delivered: false,
  lost: false,
  cancelWait: () => undefined,
  named: [],
});
