// The program `lattice-gateway`: the one way out of a sensitive domain. A helper listens inside the namespace, at the gateway's own
// address, and hands over its socket; what connects there is connected to the gateway from outside. There is no route: nothing else can be
// reached, whatever is tried inside. Gives up its rights once it listens, and ends with the namespace.
//
//   lattice-gateway /run/netns/NAME ADDRESS:PORT

import { spawn } from "node:child_process";
import { statSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { fileURLToPath } from "node:url";

/** Of one domain on one node. */
const MOST_CONNECTIONS = 1_024;
/** How soon it notices that the domain is gone. */
const LOOK_MS = 1_000;
const NOBODY = 65_534;
const HELPER = "--listen";

const [first = "", second = ""] = process.argv.slice(2);
if (first === HELPER) listenInside(second);
else serve(first, second);

function serve(namespace: string, gateway: string): void {
  const before = inodeOf(namespace);
  const own = fileURLToPath(import.meta.url);
  const helper = spawn("nsenter", [`--net=${namespace}`, "--", process.execPath, own, HELPER, gateway], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  let server: Server | null = null;
  helper.on("message", (word, handle) => {
    if (word === "taken") return say("ready");
    server = handle as Server;
    server.maxConnections = MOST_CONNECTIONS;
    server.on("connection", (inside: Socket) => pass(inside, gateway));
    giveUpRights();
    say("ready");
    setInterval(() => {
      if (inodeOf(namespace) !== before) process.exit(0);
    }, LOOK_MS);
  });
  helper.on("exit", (code) => {
    if (server === null) process.exit(code ?? 1);
  });
}

function pass(inside: Socket, gateway: string): void {
  const outside = connect({ ...placeOf(gateway), allowHalfOpen: true });
  const end = (): void => {
    inside.destroy();
    outside.destroy();
  };
  inside.on("error", end);
  outside.on("error", end);
  inside.pipe(outside);
  outside.pipe(inside);
}

/** In the namespace: its socket outlives it. */
function listenInside(gateway: string): void {
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true });
  server.on("error", (error: NodeJS.ErrnoException) => {
    // Another agent of this machine has opened it.
    if (error.code === "EADDRINUSE") process.send?.("taken", () => process.exit(0));
    else {
      process.stderr.write(error.message);
      process.exit(1);
    }
  });
  server.listen(placeOf(gateway), () => process.send?.("listening", server, () => process.exit(0)));
}

function placeOf(gateway: string): { readonly host: string; readonly port: number } {
  const [host = "", port = ""] = gateway.split(":");
  return { host, port: Number(port) };
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
  process.setgid?.(NOBODY);
  process.setuid?.(NOBODY);
}

function say(word: string): void {
  process.stdout.write(`${word}\n`);
}
