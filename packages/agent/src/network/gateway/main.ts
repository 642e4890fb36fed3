// The program `lattice-gateway`: passes connections over the border of a network domain, one address and port per process.
// A helper listens on one side and hands over its socket; this process, on the other side, connects to the destination.
// There is no route, so nothing else crosses the border. The process drops its privileges once it listens, and before it
// binds a port of the node. It exits when its file is removed.
//
//   lattice-gateway out /run/netns/NAME FILE ADDRESS:PORT   from inside, at the gateway's own address, to the gateway
//   lattice-gateway in NAMESPACE FILE PORT                  from the node, at the port, to the same port inside
//
// TCP only, over IPv4 and IPv6: a datagram has no end at which the return path could be closed.

import { statSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { HELPER_ENVIRONMENT, spawn } from "../../base/programs.ts";
import { GATEWAY_ID } from "../../host/user/check-account.ts";

/** Connections over one border. */
const MAX_CONNECTIONS = 1_024;
/** Interval of the check whether it is still needed. */
const LOOK_MS = 500;
/** Waits for the port of an attempt that has just ended. */
const FREE_AFTER_MS = 3_000;
const TRY_AGAIN_MS = 100;
/** Both address families, where the node has IPv6. */
const EVERYWHERE = "[::]";

interface Place {
  readonly host: string;
  readonly port: number;
}

const [mode = "", ...words] = process.argv.slice(2);
if (mode === "listen") listen(placeOf(words[0] ?? ""), words[1] === "shared");
else serve(words[0] ?? "", words[1] ?? "", words[2] ?? "");

/** `listenIn`: the namespace of the other side. */
function serve(listenIn: string, file: string, target: string): void {
  const before = inodeOf(file);
  if (before === null) fail(`${file} is gone`);
  const outwards = mode === "out";
  const listening = outwards ? target : `${EVERYWHERE}:${target}`;
  const own = fileURLToPath(import.meta.url);
  const helper = spawn(
    "nsenter",
    [`--net=${listenIn}`, "--", process.execPath, own, "listen", listening, outwards ? "shared" : "alone"],
    { stdio: ["ignore", "inherit", "inherit", "ipc"], env: HELPER_ENVIRONMENT },
  );
  let server: Server | null = null;
  helper.on("message", (word, handle) => {
    if (word === "taken") return say("ready");
    server = handle as Server;
    server.maxConnections = MAX_CONNECTIONS;
    server.on("connection", (socket: Socket) =>
      pass(socket, outwards ? connectTo(target) : connectHere(Number(target))),
    );
    giveUpRights();
    say("ready");
    setInterval(() => {
      if (inodeOf(file) !== before) process.exit(0);
    }, LOOK_MS);
  });
  helper.on("exit", (code) => {
    if (server === null) process.exit(code ?? 1);
  });
}

const connectTo = (target: string): Socket => connect({ ...placeOf(target), allowHalfOpen: true });

/** A program inside may listen on either address. */
const HERE = [
  { address: "127.0.0.1", family: 4 },
  { address: "::1", family: 6 },
];

const connectHere = (port: number): Socket =>
  connect({
    port,
    host: "localhost",
    allowHalfOpen: true,
    autoSelectFamily: true,
    lookup: (_, __, found) => found(null, HERE),
  });

function pass(here: Socket, there: Socket): void {
  const end = (): void => {
    here.destroy();
    there.destroy();
  };
  here.on("error", end);
  there.on("error", end);
  here.pipe(there);
  there.pipe(here);
}

/** In the helper: its socket outlives it. Shared, so that a second helper for the same port also works. */
function listen(at: Place, shared: boolean): void {
  // A port of the node is bound with the rights of any user.
  if (!shared) giveUpRights();
  const giveUpAt = Date.now() + FREE_AFTER_MS;
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true });
  let { host } = at;
  const attempt = (): void => void server.listen({ host, port: at.port });
  server.on("listening", () => process.send?.("listening", server, () => process.exit(0)));
  server.on("error", (error: NodeJS.ErrnoException) => {
    const taken = error.code === "EADDRINUSE";
    if (host === "::" && (error.code === "EAFNOSUPPORT" || error.code === "EADDRNOTAVAIL")) {
      host = "0.0.0.0";
      attempt();
      return;
    }
    if (taken && shared) process.send?.("taken", () => process.exit(0));
    else if (taken && Date.now() < giveUpAt) setTimeout(attempt, TRY_AGAIN_MS);
    else fail(error.message);
  });
  attempt();
}

function placeOf(text: string): Place {
  const [, six, four = "", port = ""] = /^(?:\[(.*)\]|(.*)):(\d+)$/.exec(text) ?? [];
  return { host: six ?? four, port: Number(port) };
}

function inodeOf(path: string): number | null {
  try {
    return statSync(path).ino;
  } catch {
    return null;
  }
}

function giveUpRights(): void {
  if (process.getuid?.() !== 0) return;
  process.setgroups?.([]);
  process.setgid?.(GATEWAY_ID);
  process.setuid?.(GATEWAY_ID);
}

function fail(why: string): never {
  process.stderr.write(why);
  process.exit(1);
}

function say(word: string): void {
  process.stdout.write(`${word}\n`);
}
