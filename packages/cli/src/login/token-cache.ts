// The token file: one token per server, readable by its owner only. If other users could read it, its mode is
// corrected and the user is warned, because the tokens may be known to others.

import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ProblemError } from "@lattice/wire";

export interface CachedToken {
  readonly accessToken: string;
  /** `null` when the provider issued none. */
  readonly refreshToken: string | null;
  /** Milliseconds since 1970. */
  readonly expiresAtMs: number;
  readonly issuer: string;
  readonly clientId: string;
  /** The user as named by the provider at login; absent when the token itself names the user. */
  readonly user?: string;
}

type Cache = Readonly<Record<string, CachedToken>>;

const OTHERS = 0o077;
const OWNER_ONLY = 0o600;

/** A token that expires during the call is useless. */
const MIN_LEFT_MS = 10_000;

/** `refused` is a token that the server rejected. */
export const isUsable = ({ accessToken, expiresAtMs }: CachedToken, refused?: string): boolean =>
  accessToken !== refused && expiresAtMs - Date.now() > MIN_LEFT_MS;

export function readToken(env: NodeJS.ProcessEnv, url: string): CachedToken | null {
  return readCache(env)[url] ?? null;
}

/** Returns the servers with a cached token. */
export const knownServers = (env: NodeJS.ProcessEnv): readonly string[] => Object.keys(readCache(env));

/** The caller must hold the lock: concurrent writes would be lost. */
export function writeToken(env: NodeJS.ProcessEnv, url: string, token: CachedToken): void {
  writeCache(env, { ...readCache(env), [url]: token });
}

/** The caller must hold the lock. */
export function removeToken(env: NodeJS.ProcessEnv, url: string): void {
  const { [url]: dropped, ...others } = readCache(env);
  if (dropped === undefined) return;
  const path = cachePath(env);
  if (Object.keys(others).length > 0) writeCache(env, others);
  else if (path !== null) rmSync(path, { force: true });
}

function readCache(env: NodeJS.ProcessEnv): Cache {
  const path = cachePath(env);
  if (path === null || !existsSync(path)) return {};
  if ((statSync(path).mode & OTHERS) !== 0) restrictMode(path);
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Cache;
  } catch {
    throw new ProblemError("unauthenticated", {
      detail: `${path} is damaged`,
      hint: `Run: rm ${path} && lattice login`,
    });
  }
}

function restrictMode(path: string): void {
  try {
    chmodSync(path, OWNER_ONLY);
  } catch {
    throw new ProblemError("unauthenticated", {
      detail: `other users can read ${path}, so its tokens are not used`,
      hint: `Run: chmod 600 ${path}`,
    });
  }
  process.stderr.write(
    `Warning: other users could read ${path}; its mode is now 0600. Run: lattice login, if someone may have read it.\n`,
  );
}

function writeCache(env: NodeJS.ProcessEnv, cache: Cache): void {
  const path = cachePath(env);
  if (path === null) throw new ProblemError("invalid_argument", { detail: "HOME is not set", hint: "Set HOME." });
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, JSON.stringify(cache), { mode: 0o600 });
  chmodSync(temporary, 0o600);
  renameSync(temporary, path);
}

/** Returns null when neither XDG_CONFIG_HOME nor HOME is set. */
export function cachePath(env: NodeJS.ProcessEnv): string | null {
  const base = env.XDG_CONFIG_HOME ?? (env.HOME === undefined ? null : join(env.HOME, ".config"));
  return base === null ? null : join(base, "lattice", "tokens.json");
}
