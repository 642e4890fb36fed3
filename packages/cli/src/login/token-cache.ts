// Tokens, one per server, in a file that only its owner may read. Where others could read it, that is said and mended:
// what is in it may already be known to somebody, who logs in again decides.

import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ProblemError } from "@lattice/wire";

export interface CachedToken {
  readonly accessToken: string;
  /** Null: the provider gave none. */
  readonly refreshToken: string | null;
  /** Milliseconds since 1970. */
  readonly expiresAtMs: number;
  readonly issuer: string;
  readonly clientId: string;
  /** Whose it is, as the provider said at the login; absent where the token itself says it or nobody does. */
  readonly user?: string;
}

type Cache = Readonly<Record<string, CachedToken>>;

const OTHERS = 0o077;
const OWNER_ONLY = 0o600;

/** One that ends during the call is as good as none. */
const LEAST_LEFT_MS = 10_000;

/** `refused`: the server did not take this one. */
export const isGood = ({ accessToken, expiresAtMs }: CachedToken, refused?: string): boolean =>
  accessToken !== refused && expiresAtMs - Date.now() > LEAST_LEFT_MS;

export function readToken(env: NodeJS.ProcessEnv, url: string): CachedToken | null {
  return readCache(env)[url] ?? null;
}

/** Those that somebody has logged in to. */
export const knownServers = (env: NodeJS.ProcessEnv): readonly string[] => Object.keys(readCache(env));

/** For those who hold the lock, since what others write meanwhile is lost. */
export function writeToken(env: NodeJS.ProcessEnv, url: string, token: CachedToken): void {
  writeCache(env, { ...readCache(env), [url]: token });
}

/** For those who hold the lock. */
export function dropToken(env: NodeJS.ProcessEnv, url: string): void {
  const { [url]: dropped, ...others } = readCache(env);
  if (dropped === undefined) return;
  const path = cachePath(env);
  if (Object.keys(others).length > 0) writeCache(env, others);
  else if (path !== null) rmSync(path, { force: true });
}

function readCache(env: NodeJS.ProcessEnv): Cache {
  const path = cachePath(env);
  if (path === null || !existsSync(path)) return {};
  if ((statSync(path).mode & OTHERS) !== 0) mend(path);
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Cache;
  } catch {
    throw new ProblemError("unauthenticated", { detail: `${path} is damaged`, hint: "Remove it and log in again." });
  }
}

function mend(path: string): void {
  try {
    chmodSync(path, OWNER_ONLY);
  } catch {
    throw new ProblemError("unauthenticated", {
      detail: `${path} can be read by others, so the tokens in it are not used`,
      hint: `Run \`chmod 600 ${path}\`, or remove it and log in again.`,
    });
  }
  process.stderr.write(`Warning: others could read ${path}; its mode is 0600 again. Log in again if somebody did.\n`);
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

/** Null: there is no home to keep it in. */
export function cachePath(env: NodeJS.ProcessEnv): string | null {
  const base = env.XDG_CONFIG_HOME ?? (env.HOME === undefined ? null : join(env.HOME, ".config"));
  return base === null ? null : join(base, "lattice", "tokens.json");
}
