// Checks that the ports of a local cluster are free, before anything starts: the error can then name the flags, and a
// Lattice cluster that already uses the port.

import { createServer } from "node:net";
import { createClient } from "@lattice/sdk";
import { ProblemError } from "@lattice/wire";
import { startCommand } from "./messages.ts";

interface Ports {
  readonly port: number;
  readonly grpcPort: number;
}

interface Taken {
  readonly port: number;
  readonly flag: "--port" | "--grpc-port";
  readonly code: string;
}

/** A local HTTP server responds well within this. */
const PROBE_TIMEOUT_MS = 1_000;

export async function requireFreePorts({ port, grpcPort }: Ports): Promise<void> {
  const tried = await Promise.all([tryPort(port, "--port"), tryPort(grpcPort, "--grpc-port")]);
  const taken = tried.filter((one) => one !== null);
  const forbidden = taken.find(({ code }) => code === "EACCES");
  if (forbidden !== undefined) {
    throw new ProblemError("invalid_argument", {
      detail: `port ${forbidden.port} needs more privileges`,
      hint: `Choose one above 1023 with ${forbidden.flag}.`,
    });
  }
  if (taken.length > 0) throw await inUse(taken);
}

async function inUse(taken: readonly Taken[]): Promise<ProblemError> {
  const rest = taken.find(({ flag }) => flag === "--port");
  const server = rest === undefined ? null : await latticeAt(rest.port);
  const ports = taken.map(({ port }) => port).join(" and ");
  const named = taken.length === 1 ? `port ${ports} is in use` : `ports ${ports} are in use`;
  const others = `${startCommand()} ${taken.map(({ flag }) => `${flag} PORT`).join(" ")}`;
  const choose = `choose another: ${others} (0 takes any free one)`;
  if (rest === undefined || server === null) {
    return new ProblemError("conflict", {
      detail: `${named} by another program`,
      hint: `Run: ${others} (0 takes any free one)`,
    });
  }
  return new ProblemError("conflict", {
    detail: `${named} by another Lattice cluster (${server})`,
    hint: `Use it with LATTICE_API_URL=http://127.0.0.1:${rest.port}, or ${choose}`,
  });
}

/** Returns the name of the Lattice server on the port, or null. */
async function latticeAt(port: number): Promise<string | null> {
  try {
    const client = createClient({
      url: `http://127.0.0.1:${port}`,
      timeoutMs: PROBE_TIMEOUT_MS,
      retry: { retries: 0 },
    });
    const { status, server } = await client.health({ signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) });
    return status === "ok" && typeof server === "string" ? server : null;
  } catch {
    return null;
  }
}

async function tryPort(port: number, flag: Taken["flag"]): Promise<Taken | null> {
  if (port === 0) return null;
  const code = await tryListen(port);
  return code === null ? null : { port, flag, code };
}

function tryListen(port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? "unknown"));
    probe.listen({ port, host: "127.0.0.1" }, () => probe.close(() => resolve(null)));
  });
}
