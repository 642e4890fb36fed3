// The program between an agent and the ranks of one launch on one node. It holds their PMI sockets and their output, so that
// they live and die with it and not with the agent: when the agent ends, it waits for the next one on a socket in the
// launch's folder. Node's start is part of every launch, so this program loads only what it needs.
//
// Arguments: the folder for launches of its attempt, and the files by which it joins the attempt's control groups, one per
// line (or nothing). Descriptor 3 is the socket to the agent that started it; the specification arrives over it, possibly
// later: an agent may keep a shepherd ready.

import { existsSync, openSync, writeFileSync } from "node:fs";
import { createServer, Socket } from "node:net";
import { join } from "node:path";
import { dropOomProtection } from "../../base/oom-protection.ts";
import { makeOwnFolderNow, removeOwnNow } from "../../files/own-tree.ts";
import { MAX_ORDER_BYTES } from "../base/exchange-limits.ts";
import { decodeOrder, encodeReport, frameReader, type ShepherdOrder, type ShepherdReport } from "../frames.ts";
import { type RunningLaunch, startLaunch } from "./launch.ts";
import { spool } from "./spool.ts";

/** The descriptor of the agent that started this shepherd. */
const FIRST_AGENT_FD = 3;
/** How long the end of a launch is kept for an agent that is away. */
const LAST_WORDS_MS = 60_000;
const SETPRIV = ["/usr/bin/setpriv", "/bin/setpriv"];

dropOomProtection();
const [, , folder = ".", joinBy = ""] = process.argv;
// The group was removed with the attempt: joining fails, and nothing is started.
for (const file of joinBy.split("\n")) if (file !== "") writeFileSync(file, String(process.pid));
const unconfirmed = spool();
let agent: Socket | null = null;
let launch: RunningLaunch | null = null;
let dir = folder;
let forgotten = false;

for (const name of ["SIGTERM", "SIGINT", "SIGHUP", "SIGUSR1", "SIGUSR2"] as const) {
  // Meant for the ranks, which receive it too; their exits must still be reported.
  process.on(name, () => undefined);
}
connect(new Socket({ fd: FIRST_AGENT_FD, readable: true, writable: true }));

function connect(socket: Socket): void {
  agent?.destroy();
  agent = socket;
  const read = frameReader({
    maxBytes: MAX_ORDER_BYTES,
    decode: decodeOrder,
    take,
    // The rest of the stream cannot be parsed, so the launch cannot continue.
    broken: (reason) => launch?.take({ kind: "kill", reason: `its agent cannot be followed: ${reason}`, code: 1 }),
  });
  socket.on("data", read);
  socket.on("error", () => undefined);
  socket.on("close", () => {
    if (agent === socket) agent = null;
    if (launch === null) process.exit(1);
    leaveLater();
  });
  repeat();
}

function take(order: ShepherdOrder): void {
  switch (order.kind) {
    case "spec": {
      const setpriv = SETPRIV.find((path) => existsSync(path)) ?? "";
      // Ranks inherit it.
      if (order.spec.umask !== "") process.umask(Number.parseInt(order.spec.umask, 8));
      launch = startLaunch({ spec: order.spec, setpriv, say, full: unconfirmed.full, answered: unconfirmed.answered });
      dir = join(folder, order.spec.launchId);
      makeOwnFolderNow(dir, 0o700);
      listen();
      return;
    }
    case "taken":
      unconfirmed.confirm(order.number);
      launch?.resume();
      if (launch?.done() === true && unconfirmed.empty()) leave();
      return;
    case "again":
      repeat();
      return;
    case "forgotten":
      forgotten = true;
      if (launch?.done() === true) leave();
      return;
    default:
      launch?.take(order);
  }
}

function say(report: ShepherdReport): void {
  const numbered = unconfirmed.add(report);
  agent?.write(encodeReport(numbered));
  if (report.kind === "done" && forgotten) setImmediate(leave);
  if (report.kind === "done") leaveLater();
}

/** A connected agent states when the end is no longer needed: other nodes of the launch may run for days. */
function leaveLater(): void {
  if (agent !== null || launch?.done() !== true) return;
  setTimeout(() => {
    if (agent === null) leave();
  }, LAST_WORDS_MS);
}

function repeat(): void {
  for (const numbered of unconfirmed.toRepeat()) agent?.write(encodeReport(numbered));
}

/** The folder's path may be too long for a socket address, so it is named by a descriptor. */
function listen(): void {
  const server = createServer(connect);
  server.on("error", () => undefined);
  server.listen(`/proc/self/fd/${openSync(dir, "r")}/agent.sock`);
}

function leave(): void {
  removeOwnNow(dir);
  process.exit(0);
}
