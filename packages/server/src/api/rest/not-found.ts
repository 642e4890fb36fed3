// Answers unknown paths with 404, and methods that a path does not support with 405 and Allow. Fastify does not
// distinguish them, so the routes are searched again for failed requests.

import { type Problem, problem, routes } from "@lattice/wire";
import type { FastifyInstance } from "fastify";
import { logEarlyRefusal } from "../invoke/early-refusal.ts";
import type { ApiContext } from "../invoke/invoke.ts";
import { sendProblem } from "./problems.ts";
import { fromOf, headersOf } from "./proxy/from.ts";
import { isTerminal } from "./terminals.ts";

export interface PlainRoute {
  readonly method: string;
  readonly path: string;
}

export function addNotFound(app: FastifyInstance, api: ApiContext, pages: readonly PlainRoute[]): void {
  const known = [...routes().map((route) => ({ method: route.httpMethod as string, path: route.path })), ...pages].map(
    ({ method, path }) => ({ method, pattern: new RegExp(`^${path.replace(/:[a-z_]+/g, "[^/]+")}/?$`) }),
  );
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split("?")[0] ?? "";
    const allowed = [...new Set(known.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method))];
    const shown = path.length > 200 ? `${path.slice(0, 200)}...` : path;
    const refuse = (what: Problem) => {
      const headers = headersOf(request.raw);
      void logEarlyRefusal(api, { error: what, code: what.code, from: fromOf(request), headers });
      return sendProblem(reply, what);
    };
    if (allowed.length === 0 && isTerminal(path)) {
      return refuse(problem("upgrade_required", { detail: `${shown} is a terminal and needs a WebSocket.` }));
    }
    if (allowed.length === 0) return refuse(problem("not_found", { detail: `No resource at ${shown}.` }));
    reply.header("allow", allowed.join(", "));
    const detail = `${shown} does not support ${request.method}; it supports ${allowed.join(", ")}.`;
    return refuse(problem("method_not_allowed", { detail }));
  });
}
