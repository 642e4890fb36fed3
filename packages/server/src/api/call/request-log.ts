// Measures one request and writes its metrics and its line of the access log when it ends.

import type { Message } from "@bufbuild/protobuf";
import { problemOf } from "@lattice/wire";
import type { Principal } from "../../base/auth/principal.ts";
import type { Config } from "../../base/config/index.ts";
import { accessLog, type From, markLogged } from "../../base/observe/access-log.ts";
import type { Logger, Metrics } from "../../base/observe/index.ts";
import { targetOf } from "./access-target.ts";

interface Parts {
  readonly metrics: Pick<Metrics, "apiRequest">;
  readonly logger: Logger;
  readonly config: Pick<Config, "log">;
}

export interface RequestLog {
  /** `null` until the caller is authenticated. */
  principal: Principal | null;
  /** The object of the request; "" when unknown. */
  target: string;
  /** Records the target of the first message that has one. */
  observeTarget(requests: AsyncIterable<Message>): AsyncIterable<Message>;
  /** Records the code and returns the error. */
  recordError<E>(error: E): E;
  end(api: Parts): void;
}

export function startRequestLog(rpc: string, { from }: { readonly from?: From }, target: string): RequestLog {
  const started = performance.now();
  let code = "ok";
  const entry: RequestLog = {
    principal: null,
    target,
    async *observeTarget(requests) {
      for await (const request of requests) {
        if (entry.target === "") entry.target = targetOf(request);
        yield request;
      }
    },
    recordError(error) {
      code = problemOf(error).code;
      markLogged(error);
      return error;
    },
    end(api) {
      const ms = performance.now() - started;
      api.metrics.apiRequest(rpc, code, ms / 1_000);
      if (from === undefined) return;
      accessLog(api, {
        ...from,
        rpc,
        ...(entry.target === "" ? {} : { target: entry.target }),
        user: entry.principal?.user ?? "",
        tenant: entry.principal?.tenant ?? "",
        code,
        ms: Math.round(ms),
      });
    },
  };
  return entry;
}
