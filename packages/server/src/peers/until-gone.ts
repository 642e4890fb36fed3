// Tells when a server's process has ended, sooner than its lease does: a connection to its port, held
// for nothing else, breaks at once when the process dies, and the port then refuses. Silence proves
// nothing here (a paused process, a cut network): that is what the lease is for. A port that was
// never reached proves nothing either, since the address may be wrong for us.

import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { parsePeer } from "./address.ts";

/** Refused so often in a row, so far apart: a listener that is only being replaced is back by then. */
const REFUSALS = 3;
const BETWEEN_MS = 50;
/** Before it is tried again otherwise: it may be far from being reachable. */
const RETRY_MS = 1_000;

type Attempt = "closed" | "refused" | "failed";

/** Resolves when it is gone; ends without a verdict only by the signal, with its reason. */
export async function untilGone(name: string, signal: AbortSignal): Promise<void> {
  const address = parsePeer(name)?.address;
  if (address === undefined) return never(signal);
  let reached = false;
  for (let refusals = 0; refusals < REFUSALS; ) {
    signal.throwIfAborted();
    const ended = await hold(address, signal);
    if (ended === "closed") reached = true;
    refusals = ended === "refused" && reached ? refusals + 1 : 0;
    const pauseMs = reached && ended !== "failed" ? BETWEEN_MS : RETRY_MS;
    if (refusals < REFUSALS) await sleep(pauseMs, undefined, { signal });
  }
}

/** Holds one connection for as long as it lasts. */
function hold(address: string, signal: AbortSignal): Promise<Attempt> {
  const cut = address.lastIndexOf(":");
  const socket = connect({ host: address.slice(0, cut).replace(/^\[|\]$/g, ""), port: Number(address.slice(cut + 1)) });
  return new Promise((resolve) => {
    let connected = false;
    let refused = false;
    const give = (): void => void socket.destroy();
    signal.addEventListener("abort", give, { once: true });
    socket.setKeepAlive(true);
    socket.resume();
    socket.once("connect", () => {
      connected = true;
    });
    socket.on("error", (error: NodeJS.ErrnoException) => {
      refused = error.code === "ECONNREFUSED";
    });
    socket.once("close", () => {
      signal.removeEventListener("abort", give);
      resolve(connected ? "closed" : refused ? "refused" : "failed");
    });
    if (signal.aborted) give();
  });
}

const never = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    if (signal.aborted) return reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
