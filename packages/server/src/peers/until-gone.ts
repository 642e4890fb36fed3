// Detects the end of a server's process before its lease expires: a connection to its port breaks at once when the
// process dies, and the port then refuses. A silent peer (paused process, partitioned network) proves nothing; the lease
// covers that. Nor does a port that was never reached, since the address may be wrong from here.

import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { parsePeer } from "./address.ts";

/** Consecutive refusals that prove the end; a listener that is only being replaced is back by then. */
const REFUSALS = 3;
const BETWEEN_MS = 50;
/** The pause after any other failure. */
const RETRY_MS = 1_000;

type ConnectResult = "closed" | "refused" | "failed";

/** Resolves when the process has ended; rejects only with the reason of the signal. */
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

/** Holds one connection until it ends. */
function hold(address: string, signal: AbortSignal): Promise<ConnectResult> {
  const cut = address.lastIndexOf(":");
  const socket = connect({ host: address.slice(0, cut).replace(/^\[|\]$/g, ""), port: Number(address.slice(cut + 1)) });
  return new Promise((resolve) => {
    let connected = false;
    let refused = false;
    const close = (): void => void socket.destroy();
    signal.addEventListener("abort", close, { once: true });
    socket.setKeepAlive(true);
    socket.resume();
    socket.once("connect", () => {
      connected = true;
    });
    socket.on("error", (error: NodeJS.ErrnoException) => {
      refused = error.code === "ECONNREFUSED";
    });
    socket.once("close", () => {
      signal.removeEventListener("abort", close);
      resolve(connected ? "closed" : refused ? "refused" : "failed");
    });
    if (signal.aborted) close();
  });
}

const never = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    if (signal.aborted) return reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
