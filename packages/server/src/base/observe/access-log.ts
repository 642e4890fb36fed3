// The access log: one line for every request, including refused ones, at its own level, so that it is independent of
// log.level. The query of a path is removed, since it may contain tokens. Public pages (health, metrics, login
// parameters) are not logged.

import type { AccessMode } from "../config/index.ts";
import type { Logger } from "./logger.ts";

export interface AccessLine {
  readonly interface: "rest" | "grpc" | "websocket" | "proxy" | "agent" | "peer";
  /** Omitted when the request was refused before its RPC was known. */
  readonly rpc?: string;
  /** HTTP only. */
  readonly method?: string;
  readonly path?: string;
  /** The id or name of the object. */
  readonly target?: string;
  /** Empty for an unauthenticated caller. */
  readonly user: string;
  /** Empty for a caller without a tenant. */
  readonly tenant: string;
  readonly remote: string;
  /** "ok", or the code of the problem. */
  readonly code: string;
  readonly ms?: number;
}

/** The origin of a request. */
export type From = Pick<AccessLine, "interface" | "method" | "path" | "remote">;

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
  // Silent is for tests and embedders, which want no lines.
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

const logged = new WeakSet<object>();

/** Marks an error, so that it is not logged again when it is sent. */
export function markLogged(error: unknown): void {
  if (typeof error === "object" && error !== null) logged.add(error);
}

export const isLogged = (error: unknown): boolean => typeof error === "object" && error !== null && logged.has(error);
