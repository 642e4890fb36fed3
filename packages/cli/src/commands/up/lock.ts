// Keeps a second `up` off a data directory that one serves, however either was started. The lock is a
// socket name that the kernel frees with the process, however it dies: no stale file can keep a
// cluster from coming back, and no process id can be mistaken for another's.

import { createHash } from "node:crypto";
import { createServer } from "node:net";

/** Answers how to let go, or null when another holds it. `dataDir` must be free of symbolic links. */
export function lockDataDir(dataDir: string): Promise<(() => Promise<void>) | null> {
  const name = `\0lattice-up-${createHash("sha256").update(dataDir).digest("hex").slice(0, 32)}`;
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE") resolve(null);
      else reject(error);
    });
    server.listen(name, () => {
      server.unref();
      resolve(() => new Promise((done) => server.close(() => done())));
    });
  });
}
