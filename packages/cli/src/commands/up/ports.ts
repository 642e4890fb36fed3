// Whether a port of this machine is free. Asked before anything starts, so that the answer names
// the port and the flag rather than a program's log.

import { createServer } from "node:net";
import { ProblemError } from "@lattice/wire";

export async function requireFreePort(port: number, flag: "--port" | "--grpc-port"): Promise<void> {
  if (port === 0) return;
  const code = await tryListen(port);
  if (code === null) return;
  if (code === "EACCES") {
    throw new ProblemError("invalid_argument", {
      detail: `port ${port} may not be used by this user`,
      hint: `Choose one above 1023 with ${flag}.`,
    });
  }
  throw new ProblemError("conflict", {
    detail: `port ${port} is in use by another program`,
    hint: `Choose another with ${flag} PORT; ${flag} 0 takes any free one.`,
  });
}

function tryListen(port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? "unknown"));
    probe.listen({ port, host: "127.0.0.1" }, () => probe.close(() => resolve(null)));
  });
}
