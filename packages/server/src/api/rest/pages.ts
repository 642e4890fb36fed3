// Public pages besides the RPCs: health, readiness, metrics, the API description, and the login parameters.

import { openapi, ProblemError } from "@lattice/wire";
import type { FastifyInstance } from "fastify";
import type { Headers, Role } from "../../base/auth/principal.ts";
import type { Config } from "../../base/config/index.ts";
import type { ApiContext } from "../invoke/invoke.ts";
import { docsPage } from "./docs-page.ts";
import type { PlainRoute } from "./not-found.ts";
import { headersOf } from "./proxy/from.ts";

type Answer = { readonly status?: number; readonly type: string; readonly body: string };
interface Page extends PlainRoute {
  readonly answer: (headers: Headers) => Answer | Promise<Answer>;
}

export function addPages(app: FastifyInstance, api: ApiContext): readonly PlainRoute[] {
  const pages = pagesOf(api);
  for (const { method, path, answer } of pages) {
    app.route({
      method,
      url: path,
      handler: async (request, reply) => {
        const { status = 200, type, body } = await answer(headersOf(request.raw));
        return reply.code(status).header("content-type", type).header("cache-control", "no-store").send(body);
      },
    });
  }
  return pages;
}

const HTML = "text/html; charset=utf-8";
const json = (value: unknown, status = 200): Answer => ({
  status,
  type: "application/json; charset=utf-8",
  body: JSON.stringify(value),
});

function lazy(render: () => string): () => string {
  let text: string | null = null;
  return () => {
    text ??= render();
    return text;
  };
}

function pagesOf(api: ApiContext): readonly Page[] {
  // Rendered once: the pages are public, so requests must be cheap.
  const described = lazy(() => JSON.stringify(openapi()));
  const documented = lazy(() => docsPage(openapi()));
  const get = (path: string, answer: Page["answer"]): Page => ({ method: "GET", path, answer });
  const health = () => healthOf(api);
  const ready = () => readinessOf(api);
  const description200 = () => ({ type: "application/json; charset=utf-8", body: described() });
  const metrics = async (headers: Headers) => {
    if (api.config.api.metricsAccess === "token") await admitMonitor(api, headers);
    return { type: api.metrics.contentType, body: await api.metrics.render() };
  };
  const docs = () => ({ type: HTML, body: documented() });
  const discovery = () => json(discoveryOf(api.config.api));
  return [
    get("/healthz", health),
    { ...get("/healthz", health), method: "HEAD" },
    get("/readyz", ready),
    { ...get("/readyz", ready), method: "HEAD" },
    get("/metrics", metrics),
    get("/api/v1/openapi.json", description200),
    get("/v1/openapi.json", description200),
    get("/api/v1/docs", docs),
    get("/v1/docs", docs),
    get("/api/v1/auth/discovery", discovery),
    get("/v1/auth/discovery", discovery),
  ];
}

/** The metrics name tenants and allocations of all users. Throws `unauthenticated` or `forbidden`. */
async function admitMonitor({ authenticator }: ApiContext, headers: Headers): Promise<void> {
  const { roles } = await authenticator.authenticate(headers);
  if (roles.some((role) => OVERSIGHT.includes(role))) return;
  const detail = "The metrics of a server are for administrators, operators and read-only roles of the cluster.";
  throw new ProblemError("forbidden", { detail });
}

const OVERSIGHT: readonly Role[] = ["SystemAdmin", "Operator", "ReadOnly"];

/** The login parameters of a client. */
function discoveryOf({ auth, oidcScopes }: Config["api"]): Readonly<Record<string, string>> {
  if (auth.kind === "oidc") {
    const provider = { idp_url: auth.issuer, issuer: auth.issuer, client_id: auth.clientId };
    const scopes = oidcScopes.length === 0 ? {} : { scopes: oidcScopes.join(" ") };
    return { authentication: "oidc", ...provider, ...scopes };
  }
  if (auth.kind === "hmac")
    return { authentication: "hmac", detail: "Tokens are made with a shared secret: `lattice admin token create`." };
  const detail = "Authentication is not configured: the server trusts the user name that a client states.";
  return { authentication: "none", detail };
}

/** Liveness only; `readyz` says whether the server can serve. */
function healthOf({ plane }: ApiContext): Answer {
  const status = plane.logStatus();
  return json({
    status: "ok",
    server: plane.serverId,
    version: plane.version,
    leader: status.leader,
    is_leader: status.isLeader,
    log_index: String(plane.view().index),
  });
}

function readinessOf({ plane, closing }: ApiContext): Answer {
  if (closing.aborted) return json({ ready: false, reason: "stopping" }, 503);
  const { ok, reason } = plane.ready();
  return ok ? json({ ready: true }) : json({ ready: false, reason }, 503);
}
