// The names of the RPCs and the shape of their handlers, derived from the contract: a method added
// to a service does not compile until it has a handler and an access rule.

import type { DescMessage, DescMethod, MessageShape } from "@bufbuild/protobuf";
import { pb } from "@lattice/wire";
import type { Call } from "./call.ts";

/** The services that people and programs call. Agents have their own. */
export const SERVICES = [
  pb.AllocationService,
  pb.DagService,
  pb.SessionService,
  pb.NodeService,
  pb.TaskService,
  pb.AdminService,
  pb.ImageService,
  pb.EventService,
  pb.NetworkService,
  pb.AccessService,
] as const;

type Service = (typeof SERVICES)[number];
type Methods<S extends Service> = S["method"];

export type UnaryHandler<I, O> = (call: Call, request: I) => Promise<O>;
/** Yields messages, or several that are available at once. */
export type StreamHandler<I, O> = (call: Call, request: I) => AsyncIterable<O | readonly O[]>;
type BidiHandler<I, O> = (call: Call, requests: AsyncIterable<I>) => AsyncIterable<O>;

type HandlerOf<M> = M extends {
  methodKind: "unary";
  input: infer I extends DescMessage;
  output: infer O extends DescMessage;
}
  ? UnaryHandler<MessageShape<I>, MessageShape<O>>
  : M extends {
        methodKind: "server_streaming";
        input: infer I extends DescMessage;
        output: infer O extends DescMessage;
      }
    ? StreamHandler<MessageShape<I>, MessageShape<O>>
    : M extends {
          methodKind: "bidi_streaming";
          input: infer I extends DescMessage;
          output: infer O extends DescMessage;
        }
      ? BidiHandler<MessageShape<I>, MessageShape<O>>
      : never;

/**
 * The server that runs a handler. `leader`: only the leader has what the handler reads (scheduler, agents, launches), so
 * a follower forwards the call. `prefer_leader`: without a leader, any server gives a partial answer.
 */
export type HandlerPlacement = "any" | "leader" | "prefer_leader";

export interface HandlerRow<H> {
  readonly runs:
    | HandlerPlacement
    | (H extends (call: Call, request: infer I) => unknown ? (request: I) => HandlerPlacement : never);
  readonly handle: H;
}

type TableOf<Name extends string, S extends Service> = {
  readonly [K in keyof Methods<S> & string as `${Name}.${Capitalize<K>}`]: HandlerRow<HandlerOf<Methods<S>[K]>>;
};

export type HandlerTable = TableOf<"AllocationService", typeof pb.AllocationService> &
  TableOf<"SessionService", typeof pb.SessionService> &
  TableOf<"DagService", typeof pb.DagService> &
  TableOf<"NodeService", typeof pb.NodeService> &
  TableOf<"TaskService", typeof pb.TaskService> &
  TableOf<"AdminService", typeof pb.AdminService> &
  TableOf<"ImageService", typeof pb.ImageService> &
  TableOf<"EventService", typeof pb.EventService> &
  TableOf<"NetworkService", typeof pb.NetworkService> &
  TableOf<"AccessService", typeof pb.AccessService>;

export type RpcName = keyof HandlerTable;

const METHODS: ReadonlyMap<string, DescMethod> = new Map(
  SERVICES.flatMap((service) => service.methods.map((method) => [`${service.name}.${method.name}`, method] as const)),
);

export const isRpcName = (name: string): name is RpcName => METHODS.has(name);

export function methodOf(rpc: RpcName): DescMethod {
  const method = METHODS.get(rpc);
  if (method === undefined) throw new Error(`the contract has no ${rpc}`);
  return method;
}
