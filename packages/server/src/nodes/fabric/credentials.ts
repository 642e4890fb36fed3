// The client of a fabric manager, which issues the credentials of libfabric's CXI provider for a Slingshot network. A
// service is created for one use on a set of nodes, its key is requested, and it is revoked after the use. Without
// credentials tasks could not communicate, so an unavailable manager is an error; a revocation is retried in the
// background for a while.

import { ProblemError } from "@lattice/wire";
import type { Logger } from "pino";
import type { FabricConfig } from "../../base/config/index.ts";
import { type FabricAnswer, type FabricCall, fabricHttp, fieldsOf, isGood, reasonOf } from "./http.ts";

interface FabricRequest {
  /** Unique per use: a repeated request returns the same service. */
  readonly name: string;
  readonly allocationId: string;
  readonly nodes: readonly string[];
  /** VNI of the allocation's network; `null` when the manager chooses. */
  readonly vni: number | null;
}

export interface FabricCredentials {
  /** Id of the service at the manager. */
  readonly serviceId: string;
  readonly vni: number;
  readonly authKey: Uint8Array;
  readonly svcId: number;
}

export interface FabricManager {
  /** Throws a problem for the caller. */
  issue(request: FabricRequest, signal: AbortSignal): Promise<FabricCredentials>;
  /** Never rejects; retries for a while. */
  revoke(serviceId: string): Promise<void>;
  close(): void;
}

interface FabricSurroundings {
  readonly logger: Logger;
  readonly counted: (operation: "create" | "auth" | "revoke", result: "done" | "failed") => void;
}

/** Pauses between tries while a user waits. */
const PAUSES_MS = [100, 400] as const;
/** Pauses between tries in the background: six minutes in all. */
const REVOKE_PAUSES_MS = [500, 1_000, 5_000, 15_000, 60_000, 120_000, 180_000] as const;

export function fabricManager(config: FabricConfig, { logger, counted }: FabricSurroundings): FabricManager {
  const closing = new AbortController();

  const http = fabricHttp(config);

  const call = (request: FabricCall, signal: AbortSignal): Promise<FabricAnswer> =>
    http({ ...request, path: `${config.servicesPath}${request.path}` }, AbortSignal.any([signal, closing.signal]));

  /** Retried while the manager is unavailable; a refusal is final. */
  async function withRetries(operation: "create" | "auth", what: FabricCall, signal: AbortSignal): Promise<unknown> {
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
    logger.error({ service: serviceId, problem }, "fabric credentials not revoked; the fabric manager still has them");
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
        await withRetries("create", { method: "POST", path: "", body, idempotencyKey: request.name }, signal),
      );
      try {
        const path = `/${encodeURIComponent(made.id)}/auth`;
        const {
          authKey,
          svcId,
          vni: named,
        } = authOf(await withRetries("auth", { method: "GET", path, body: null }, signal));
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
