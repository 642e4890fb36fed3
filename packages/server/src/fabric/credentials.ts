// The client of a fabric manager, which hands out the credentials by which libfabric's CXI provider lets processes
// speak over a Slingshot network. A service is made for one use on a set of nodes, its key is asked for, and
// it is taken back when the use is over. Without credentials nothing could communicate, so a manager that does not answer
// is an error; one that cannot take back a service is asked again for a while, in the background.

import { ProblemError } from "@lattice/wire";
import type { Logger } from "pino";
import type { FabricConfig } from "../config/fabric.ts";
import { type FabricAnswer, type FabricCall, fabricHttp, fieldsOf, isGood, reasonOf } from "./http.ts";

export interface FabricRequest {
  /** Unique to the use: asked for twice, it is still one service. */
  readonly name: string;
  readonly allocationId: string;
  readonly nodes: readonly string[];
  /** That of the allocation's network; null: the manager chooses. */
  readonly vni: number | null;
}

export interface FabricCredentials {
  /** The manager's name of the service. */
  readonly serviceId: string;
  readonly vni: number;
  readonly authKey: Uint8Array;
  readonly svcId: number;
}

export interface FabricManager {
  /** Throws a problem that callers may be told. */
  issue(request: FabricRequest, signal: AbortSignal): Promise<FabricCredentials>;
  /** Never rejects; goes on asking until it is taken, for a while. */
  revoke(serviceId: string): Promise<void>;
  close(): void;
}

export interface FabricSurroundings {
  readonly logger: Logger;
  readonly counted: (operation: "create" | "auth" | "revoke", result: "done" | "failed") => void;
}

/** Between tries of a call that a user waits for. */
const PAUSES_MS = [100, 400] as const;
/** Of one that nobody waits for: six minutes in all. */
const REVOKE_PAUSES_MS = [500, 1_000, 5_000, 15_000, 60_000, 120_000, 180_000] as const;

export function fabricManager(config: FabricConfig, { logger, counted }: FabricSurroundings): FabricManager {
  const closing = new AbortController();

  const http = fabricHttp(config);

  const call = (asked: FabricCall, signal: AbortSignal): Promise<FabricAnswer> =>
    http({ ...asked, path: `${config.servicesPath}${asked.path}` }, AbortSignal.any([signal, closing.signal]));

  /** Tried again while the manager is away or unwell; what it refuses is not asked twice. */
  async function insistent(operation: "create" | "auth", what: FabricCall, signal: AbortSignal): Promise<unknown> {
    let problem = "";
    for (const pauseMs of [...PAUSES_MS, null]) {
      try {
        const answer = await call(what, signal);
        const { status, text } = answer;
        if (isGood(answer)) {
          counted(operation, "done");
          return JSON.parse(text);
        }
        problem = `it answers ${status}`;
        if (status < 500 && status !== 429) break;
      } catch (error) {
        problem = reasonOf(error);
        if (signal.aborted) break;
      }
      if (pauseMs !== null) await pause(pauseMs, signal);
    }
    counted(operation, "failed");
    throw refused(problem);
  }

  async function revoke(serviceId: string): Promise<void> {
    const path = `/${encodeURIComponent(serviceId)}`;
    let problem = "";
    for (const pauseMs of [0, ...REVOKE_PAUSES_MS]) {
      if (pauseMs > 0) await pause(pauseMs, closing.signal);
      if (closing.signal.aborted) break;
      try {
        const answer = await call({ method: "DELETE", path, body: null }, closing.signal);
        if (isGood(answer) || answer.status === 404) return counted("revoke", "done");
        problem = `it answers ${answer.status}`;
      } catch (error) {
        problem = reasonOf(error);
      }
    }
    counted("revoke", "failed");
    logger.error({ service: serviceId, problem }, "the fabric manager keeps credentials that nobody uses any more");
  }

  return {
    async issue(request, signal) {
      const body = {
        name: request.name,
        allocation_id: request.allocationId,
        nodes: request.nodes,
        ...(request.vni === null ? {} : { vni: request.vni }),
      };
      const made = serviceOf(
        await insistent("create", { method: "POST", path: "", body, idempotencyKey: request.name }, signal),
      );
      try {
        const path = `/${encodeURIComponent(made.id)}/auth`;
        const {
          authKey,
          svcId,
          vni: named,
        } = authOf(await insistent("auth", { method: "GET", path, body: null }, signal));
        const vni = request.vni ?? made.vni ?? named;
        if (vni === null) throw refused("it named no VNI");
        return { serviceId: made.id, vni, authKey, svcId };
      } catch (error) {
        void revoke(made.id);
        throw error;
      }
    },
    revoke,
    close: () => closing.abort(),
  };
}

function serviceOf(value: unknown): { readonly id: string; readonly vni: number | null } {
  const { id, vni } = fieldsOf(value);
  const known = typeof id === "number" ? String(id) : id;
  if (typeof known !== "string" || known === "") throw refused("it made a service without an id");
  return { id: known, vni: numberOr(vni) };
}

function authOf(value: unknown): { readonly authKey: Uint8Array; readonly svcId: number; readonly vni: number | null } {
  const { auth_key: key, svc_id: svcId, vni } = fieldsOf(value);
  if (typeof key !== "string" || !/^([0-9a-f]{2})+$/i.test(key)) throw refused("it gave no key in hexadecimal");
  return { authKey: Buffer.from(key, "hex"), svcId: numberOr(svcId) ?? 0, vni: numberOr(vni) };
}

const numberOr = (value: unknown): number | null => (Number.isInteger(value) ? (value as number) : null);

const refused = (problem: string): ProblemError =>
  new ProblemError("fabric_unavailable", { detail: `The fabric manager gives no credentials: ${problem}.` });

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    timer.unref();
    signal.addEventListener("abort", done, { once: true });
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
  });
}
