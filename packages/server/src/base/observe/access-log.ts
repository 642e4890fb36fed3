// The access log: one line for every request, refused ones included. It has a level of its own, so that a server
// that is quiet about itself still says who did what. Of an address the query is left out, since tokens may be in it; public pages
// (health, metrics, how to log in) are not in it.

import type { AccessMode } from "../config/index.ts";
import type { Logger } from "./logger.ts";

export interface AccessLine {
  readonly door: "rest" | "grpc" | "websocket" | "proxy" | "agent" | "peer";
  /** The RPC, where it came that far. */
  readonly rpc?: string;
  /** Of HTTP. */
  readonly method?: string;
  readonly path?: string;
  /** What it was about: an id, a name. */
  readonly target?: string;
  /** Empty for an unauthenticated caller. */
  readonly user: string;
  /** Empty: bound to none. */
  readonly tenant: string;
  readonly remote: string;
  /** "ok", or the code of the problem. */
  readonly code: string;
  readonly ms?: number;
}

/** Where a request came in. */
export type From = Pick<AccessLine, "door" | "method" | "path" | "remote">;

interface Parts {
  readonly logger: Logger;
  readonly config: { readonly log: { readonly access: AccessMode } };
}

const MAX_PATH_LENGTH = 200;
const MAX_TARGET_LENGTH = 80;
export const ACCESS_MESSAGE = "api call";

export function accessLog({ logger, config }: Parts, line: AccessLine): void {
  const { access } = config.log;
  if (access === "none" || (access === "refused" && line.code === "ok")) return;
  ownLevel(logger).info(shortened(line), ACCESS_MESSAGE);
}

const children = new WeakMap<Logger, Logger>();

function ownLevel(logger: Logger): Logger {
  // Silent is for tests and embedders, who want no lines at all.
  if (logger.level === "silent") return logger;
  const known = children.get(logger);
  if (known !== undefined) return known;
  const child = logger.child({}, { level: "info" });
  children.set(logger, child);
  return child;
}

const shortened = (line: AccessLine): AccessLine => ({
  ...line,
  ...(line.path === undefined ? {} : { path: withoutQuery(line.path).slice(0, MAX_PATH_LENGTH) }),
  ...(line.target === undefined ? {} : { target: line.target.slice(0, MAX_TARGET_LENGTH) }),
});

const withoutQuery = (path: string): string => path.split(/[?#]/, 1)[0] ?? "";

const told = new WeakSet<object>();

/** So that the door that an error passes on its way out does not write it down again. */
export function markLogged(error: unknown): void {
  if (typeof error === "object" && error !== null) told.add(error);
}

export const isLogged = (error: unknown): boolean => typeof error === "object" && error !== null && told.has(error);
