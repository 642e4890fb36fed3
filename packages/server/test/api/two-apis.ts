// Two APIs, each with its own plane in the same state: the same request goes to one over REST and to the other over
// gRPC, and must give the same answer and the same state. The called RPCs are recorded, so that none is forgotten.

import type { Message } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { SERVICES } from "../../src/api/call/rpc.ts";
import { type Answer, callGrpc, callRest, type Running, restOf, startTestApi } from "./clients.ts";

export const USER = { "x-lattice-user": "ada" };

export interface TwoApis {
  readonly left: Running;
  readonly right: Running;
  both(rpc: string, message: Message): Promise<Answer>;
  /** Called over both interfaces, and not refused. */
  good(rpc: string, message: Message): Promise<Record<string, unknown>>;
}

/** Services whose every unary RPC the file must call; checked at its end. */
export function useTwoApis(services: readonly string[], only: (rpc: string) => boolean = () => true): TwoApis {
  let left: Running;
  let right: Running;
  const covered = new Set<string>();

  beforeEach(async () => {
    left = await startTestApi();
    right = await startTestApi();
    for (const { plane } of [left, right]) {
      for (const node of ["n1", "n2", "n3"]) plane.addNode(node);
    }
    return async () => {
      await left.close();
      await right.close();
    };
  });
  beforeAll(() => covered.clear());
  afterAll(() => {
    const unary = SERVICES.filter(({ name }) => services.includes(name)).flatMap((service) =>
      service.methods.filter((m) => m.methodKind === "unary").map((m) => `${service.name}.${m.name}`),
    );
    expect(unary.filter((rpc) => only(rpc) && !covered.has(rpc))).toEqual([]);
  });

  async function both(rpc: string, message: Message): Promise<Answer> {
    const request = restOf(rpc, message);
    const overRest = await callRest(left, { ...request, headers: { ...request.headers, ...USER } });
    const overGrpc = await callGrpc(right, rpc, message, USER);
    expect(overRest).toEqual(overGrpc);
    expect(left.plane.hash()).toBe(right.plane.hash());
    covered.add(rpc);
    return overRest;
  }

  return {
    get left() {
      return left;
    },
    get right() {
      return right;
    },
    both,
    async good(rpc, message) {
      const answer = await both(rpc, message);
      if ("problem" in answer) throw new Error(JSON.stringify(answer.problem));
      return answer.json as Record<string, unknown>;
    },
  };
}

/** The RPCs that rest-and-grpc-operate.test.ts covers. */
export const OPERATE_RPCS: ReadonlySet<string> = new Set([
  "AllocationService.QueryMetrics",
  "AllocationService.GetDiagnostics",
  "AllocationService.CompareMetrics",
  "AdminService.DeleteTenant",
  "AdminService.DeleteVCluster",
  "AdminService.GetQueue",
  "AdminService.GetSchedulerStatus",
  "AdminService.GetAccounting",
  "AdminService.GetConfig",
  "AdminService.SetConfig",
]);
/** Covered by rest-and-grpc.test.ts; rest-and-grpc-work.test.ts covers every other service. */
export const PLAIN_SERVICES: readonly string[] = ["AllocationService", "NodeService", "AdminService"];
export const WORK_SERVICES: readonly string[] = [
  "DagService",
  "SessionService",
  "ImageService",
  "TaskService",
  "EventService",
  "NetworkService",
  "AccessService",
];
