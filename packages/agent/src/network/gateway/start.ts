// Starts the processes that pass on what a domain says to the data gateway, and what others say to a port inside. They belong to the
// domain and the attempt, not to the agent: they go on when the agent is started again, and end when what they are for is gone.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** A process and a helper of its own; what takes longer hangs. */
const LIMIT_MS = 10_000;
const PROGRAM = "lattice-gateway.js";

/** For as long as the namespace is there. Started twice, the second finds the place taken. Rejects where nothing would be passed on. */
export const startGateway = (namespace: string, gateway: string): Promise<void> =>
  begin([], ["out", namespace, namespace, gateway], `the way to the data gateway ${gateway}`);

export interface OpenPort {
  readonly namespace: string;
  readonly port: number;
  /** A file that goes with the attempt. */
  readonly mark: string;
}

/** Rejects where the port is another's on this node. */
export const openPort = ({ namespace, port, mark }: OpenPort): Promise<void> =>
  begin(
    ["nsenter", `--net=${namespace}`, "--"],
    ["in", `/proc/${process.pid}/ns/net`, mark, String(port)],
    `port ${port} of this node`,
  );

function begin(before: readonly string[], words: readonly string[], what: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const [program = "", ...args] = [...before, process.execPath, programFile(), ...words];
    const child = spawn(program, args, {
      cwd: "/",
      detached: true,
      env: { PATH: process.env.PATH ?? "" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let said = "";
    const settle = (problem: string | null): void => {
      clearTimeout(timer);
      child.stdout.destroy();
      child.stderr.destroy();
      child.unref();
      if (problem === null) resolve();
      else reject(new Error(`${what} cannot be opened: ${problem}`));
    };
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      settle("it takes too long");
    }, LIMIT_MS);
    child.stderr.on("data", (bytes: Buffer) => {
      said = `${said}${bytes}`.slice(0, 500);
    });
    child.stdout.once("data", () => settle(null));
    child.once("error", (error) => settle(error.message));
    child.once("close", (code) => settle(code === 0 ? null : said.trim() || `exit ${code}`));
  });
}

function programFile(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  const beside = join(here, PROGRAM);
  return existsSync(beside) ? beside : join(here, "..", "..", "..", "dist", PROGRAM);
}
