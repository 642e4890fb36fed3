// Calls that a follower forwards to the leader, as plain values. The transport between servers implements `Forward`;
// `invoke.ts` decides which calls are forwarded.

import type { Message } from "@bufbuild/protobuf";
import type { Principal } from "../../base/auth/principal.ts";
import type { RpcName } from "./rpc.ts";

export interface ForwardedCall {
  readonly rpc: RpcName;
  /** As authenticated by the follower, without the grants: the leader adds those of its own state. */
  readonly principal: Principal;
  /** The tenant header of the caller, unparsed; "" when absent. */
  readonly statedTenant: string;
  readonly minIndex: string | undefined;
  readonly consistent: boolean;
  readonly warnings: readonly string[];
}

export interface ForwardedAnswer {
  readonly message: Message;
  /** The index that the leader had applied. */
  readonly logIndex: string;
}

/** Throws the problem of the handler, or `not_leader` when the leader cannot be reached. */
export type Forward = (
  call: ForwardedCall,
  request: Message | AsyncIterable<Message>,
  signal: AbortSignal,
) => AsyncIterable<ForwardedAnswer>;
