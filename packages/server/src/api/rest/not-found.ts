// Paths that do not exist, and methods that a path does not take (405 with Allow). Fastify does not
// tell the two apart, so the routes are looked through again; only failed requests pay for it.

import { type Problem, problem, routes } from "@lattice/wire";
import type { FastifyInstance } from "fastify";
import type { ApiContext } from "../invoke.ts";
import { refusedEarly } from "../refused-early.ts";
import { fromOf, headersOf } from "./from.ts";
import { sendProblem } from "./problems.ts";
import { isTerminal } from "./terminals.ts";

export interface PlainRoute {
  readonly method: string;
  readonly path: string;
}

export function addNotFound(app: FastifyInstance, door: ApiContext, pages: readonly PlainRoute[]): void {
  const known = [...routes().map((route) => ({ method: route.httpMethod as string, path: route.path })), ...pages].map(
    ({ method, path }) => ({ method, pattern: new RegExp(`^${path.replace(/:[a-z_]+/g, "[^/]+")}/?$`) }),
  );
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split("?")[0] ?? "";
    const allowed = [...new Set(known.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method))];
    const shown = path.length > 200 ? `${path.slice(0, 200)}...` : path;
    const refuse = (what: Problem) => {
      const headers = headersOf(request.raw);
      void refusedEarly(door, { error: what, code: what.code, from: fromOf(request), headers });
      return sendProblem(reply, what);
    };
    if (allowed.length === 0 && isTerminal(path)) {
      return refuse(problem("upgrade_required", { detail: `${shown} is a terminal, which is a WebSocket.` }));
    }
    if (allowed.length === 0) return refuse(problem("not_found", { detail: `There is nothing at ${shown}.` }));
    reply.header("allow", allowed.join(", "));
    const detail = `${shown} does not take ${request.method}; it takes ${allowed.join(", ")}.`;
    return refuse(problem("method_not_allowed", { detail }));
  });
}
