// One request from its coming to its end: what is counted and written into the access log when it is over.

import type { Message } from "@bufbuild/protobuf";
import { problemOf } from "@lattice/wire";
import type { Config } from "../config/config.ts";
import { accessLog, type From, tellOnce } from "../observe/access-log.ts";
import type { Logger, Metrics } from "../observe/index.ts";
import { targetOf } from "./access-target.ts";
import type { Principal } from "./auth/principal.ts";

interface Parts {
  readonly metrics: Pick<Metrics, "apiRequest">;
  readonly logger: Logger;
  readonly config: Pick<Config, "log">;
}

export interface Visit {
  /** Null: nobody was recognised. */
  principal: Principal | null;
  /** What it is about; "": not known. */
  target: string;
  /** Notes what the first of them is about. */
  watching(requests: AsyncIterable<Message>): AsyncIterable<Message>;
  /** The same, noted. */
  refused<E>(error: E): E;
  end(door: Parts): void;
}

export function beginVisit(rpc: string, { from }: { readonly from?: From }, target: string): Visit {
  const started = performance.now();
  let code = "ok";
  const visit: Visit = {
    principal: null,
    target,
    async *watching(requests) {
      for await (const request of requests) {
        if (visit.target === "") visit.target = targetOf(request);
        yield request;
      }
    },
    refused(error) {
      code = problemOf(error).code;
      tellOnce(error);
      return error;
    },
    end(door) {
      const ms = performance.now() - started;
      door.metrics.apiRequest(rpc, code, ms / 1_000);
      if (from === undefined) return;
      accessLog(door, {
        ...from,
        rpc,
        ...(visit.target === "" ? {} : { target: visit.target }),
        user: visit.principal?.user ?? "",
        tenant: visit.principal?.tenant ?? "",
        code,
        ms: Math.round(ms),
      });
    },
  };
  return visit;
}
