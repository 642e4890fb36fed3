// The program `lattice-gateway`: passes connections over the border of a network domain, one address and port for each process. A helper
// listens on the one side and hands over its socket; this process, on the other side, connects to whom it is for. There is no route:
// nothing else gets across, whatever is tried. Gives up its rights once it listens, and ends when the file is gone that it is for.
//
//   lattice-gateway out /run/netns/NAME FILE ADDRESS:PORT   from inside, at the gateway's own address, to the gateway
//   lattice-gateway in NAMESPACE FILE PORT                  from the node, at the port, to the same port inside

import { spawn } from "node:child_process";
import { statSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { fileURLToPath } from "node:url";

/** Over one border. */
const MOST_CONNECTIONS = 1_024;
/** How soon it notices that it is no longer wanted. */
const LOOK_MS = 500;
/** For the port of an attempt that has just ended to be free. */
const FREE_AFTER_MS = 3_000;
const TRY_AGAIN_MS = 100;
const NOBODY = 65_534;

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
  const outwards = mode === "out";
  const [listening, to] = outwards ? [target, target] : [`0.0.0.0:${target}`, `127.0.0.1:${target}`];
  const own = fileURLToPath(import.meta.url);
  const helper = spawn(
    "nsenter",
    [`--net=${listenIn}`, "--", process.execPath, own, "listen", listening, outwards ? "shared" : "alone"],
    { stdio: ["ignore", "inherit", "inherit", "ipc"] },
  );
  let server: Server | null = null;
  helper.on("message", (word, handle) => {
    if (word === "taken") return say("ready");
    server = handle as Server;
    server.maxConnections = MOST_CONNECTIONS;
    server.on("connection", (socket: Socket) => pass(socket, placeOf(to)));
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

function pass(here: Socket, to: Place): void {
  const there = connect({ ...to, allowHalfOpen: true });
  const end = (): void => {
    here.destroy();
    there.destroy();
  };
  here.on("error", end);
  there.on("error", end);
  here.pipe(there);
  there.pipe(here);
}

/** In the helper: its socket outlives it. Shared: whoever has the place already does the same. */
function listen(at: Place, shared: boolean): void {
  const giveUpAt = Date.now() + FREE_AFTER_MS;
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true });
  const attempt = (): void => void server.listen(at);
  server.on("listening", () => process.send?.("listening", server, () => process.exit(0)));
  server.on("error", (error: NodeJS.ErrnoException) => {
    const taken = error.code === "EADDRINUSE";
    if (taken && shared) process.send?.("taken", () => process.exit(0));
    else if (taken && Date.now() < giveUpAt) setTimeout(attempt, TRY_AGAIN_MS);
    else {
      process.stderr.write(error.message);
      process.exit(1);
    }
  });
  attempt();
}

function placeOf(text: string): Place {
  const [host = "", port = ""] = text.split(":");
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
