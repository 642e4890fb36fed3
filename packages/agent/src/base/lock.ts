// Keeps a second agent off the same data folder and state file. The lock is a socket name that the kernel frees with
// the process, so no stale lock file can keep a node from coming back.

import { createHash } from "node:crypto";
import { createServer } from "node:net";

/** Returns a function that unlocks; rejects when another agent has the folder. */
export const lockDataDir = (dataDir: string): Promise<() => Promise<void>> => lock("data directory", dataDir);

/** Two agents with one state file would treat each other's work as stray. */
export const lockStateFile = (path: string): Promise<() => Promise<void>> => lock("state file", path);

function lock(what: string, path: string): Promise<() => Promise<void>> {
  const name = `\0lattice-agent-${createHash("sha256").update(path).digest("hex").slice(0, 32)}`;
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", (error: NodeJS.ErrnoException) => {
      const taken = error.code === "EADDRINUSE";
      reject(taken ? new Error(`another agent is using the ${what} ${path}`) : error);
    });
    server.listen(name, () => {
      server.unref();
      resolve(() => new Promise((done) => server.close(() => done())));
    });
  });
}
