// Identifies the users of this machine for a cluster of root: each gets a token for the account that the kernel recorded
// when it connected to the socket. No name of a client is used.

import { execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ProblemError } from "@lattice/wire";
import { localSocketPath } from "../../login/local-socket.ts";
import { signToken } from "../../login/sign-token.ts";

const VALID_S = 8 * 3_600;
const AGENT_VALID_S = 365 * 86_400;
/** Connections at a time; each takes a few milliseconds. */
const MAX_CONNECTIONS = 64;
const PATIENCE_MS = 5_000;
/** No variable of a caller reaches the programs. */
const ENVIRONMENT = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" };

interface LocalUsers {
  /** The secret that signs the tokens of the cluster. */
  readonly secret: string;
  tokenOf(user: string, scope?: string, seconds?: number): string;
  agentToken(node: string): string;
}

/** Creates the secret, or reads that of an earlier `up` with the same data. */
export function openLocalUsers(dataDir: string): LocalUsers {
  const file = join(dataDir, "secret");
  if (!existsSync(file)) writeFileSync(file, `${randomBytes(32).toString("hex")}\n`, { mode: 0o600, flag: "wx" });
  chmodSync(file, 0o600);
  const secret = readFileSync(file, "utf8").trim();
  const tokenOf = (user: string, scope?: string, seconds = VALID_S): string => {
    const now = Math.floor(Date.now() / 1_000);
    return signToken(secret, {
      sub: user,
      tenant: "default",
      ...(scope === undefined ? {} : { scope }),
      iat: now,
      exp: now + seconds,
    });
  };
  return { secret, tokenOf, agentToken: (node) => tokenOf(node, "agent", AGENT_VALID_S) };
}

/** Serves tokens while `isServing`: a restarting server's port could be another program's. Returns the stop. */
export async function serveLocalUsers(users: LocalUsers, port: string, isServing: () => boolean): Promise<() => void> {
  const path = localSocketPath(port);
  makeFolder(dirname(path));
  rmSync(path, { force: true });
  const server = createServer({ pauseOnConnect: true }, (socket) => void answer(users, socket, isServing));
  server.maxConnections = MAX_CONNECTIONS;
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(path, resolve));
  // Every account may connect; the kernel records which one does.
  chmodSync(path, 0o666);
  return () => {
    server.close();
    rmSync(path, { force: true });
  };
}

function makeFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  const { uid, mode } = lstatSync(folder);
  if (uid === 0 && (mode & 0o022) === 0) return;
  throw new ProblemError("invalid_argument", { detail: `${folder} must belong to root and be writable by root alone` });
}

async function answer(users: LocalUsers, socket: Socket, isServing: () => boolean): Promise<void> {
  socket.on("error", () => socket.destroy());
  socket.setTimeout(PATIENCE_MS, () => socket.destroy());
  const uid = isServing() ? await peerOf(socket) : null;
  const user = uid === null ? null : await accountOf(uid);
  if (user === null) return void socket.destroy();
  const expiresAtS = Math.floor(Date.now() / 1_000) + VALID_S;
  const token = users.tokenOf(user, uid === 0 ? "admin" : undefined);
  socket.end(JSON.stringify({ token, user, expires_at: expiresAtS }));
}

const PEER = fileURLToPath(new URL("../../agent/dist/lattice-peer", import.meta.url));

export const canIdentifyUsers = (): boolean => existsSync(PEER);

/** Returns the uid that the kernel recorded for the connection. */
function peerOf(socket: Socket): Promise<number | null> {
  return new Promise((resolve) => {
    let text = "";
    const child = spawn(PEER, [], { stdio: [socket, "pipe", "ignore"], env: ENVIRONMENT, timeout: PATIENCE_MS });
    child.stdout?.on("data", (bytes: Buffer) => {
      text += bytes.toString();
    });
    child.once("error", () => resolve(null));
    child.once("close", (code) => resolve(code === 0 && /^\d{1,10}\n$/.test(text) ? Number(text) : null));
  });
}

/** Returns the name of the account, if the name leads to the same uid again. */
async function accountOf(uid: number): Promise<string | null> {
  const name = (await passwd(String(uid)))?.[0];
  if (name === undefined) return null;
  const again = (await passwd(name))?.[2];
  return again === String(uid) ? name : null;
}

function passwd(key: string): Promise<readonly string[] | null> {
  return new Promise((resolve) => {
    const options = { timeout: PATIENCE_MS, env: ENVIRONMENT };
    execFile("getent", ["passwd", "--", key], options, (error, text) =>
      resolve(error === null ? (text.split("\n")[0] ?? "").split(":") : null),
    );
  });
}
