// Starts the process that passes on what a sensitive domain says to the data gateway. It belongs to the domain, not to the agent: it
// goes on when the agent is started again, and ends when the namespace is gone. Started twice, the second finds the place taken.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** A process and a helper of its own; what takes longer hangs. */
const LIMIT_MS = 10_000;
const PROGRAM = "lattice-gateway.js";

/** Rejects where the gateway would not be reached from inside. */
export function startGateway(namespace: string, gateway: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [programFile(), namespace, gateway], {
      cwd: "/",
      detached: true,
      env: { PATH: process.env.PATH ?? "" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let said = "";
    const settle = (error: Error | null): void => {
      clearTimeout(timer);
      child.stdout.destroy();
      child.stderr.destroy();
      child.unref();
      if (error === null) resolve();
      else reject(error);
    };
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      settle(new Error("the way to the data gateway was not opened in time"));
    }, LIMIT_MS);
    child.stderr.on("data", (bytes: Buffer) => {
      said += String(bytes).slice(0, 500);
    });
    child.stdout.once("data", () => settle(null));
    child.once("error", settle);
    child.once("exit", (code) => {
      if (code !== 0)
        settle(new Error(`the way to the data gateway cannot be opened: ${said.trim() || `exit ${code}`}`));
    });
  });
}

function programFile(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  const beside = join(here, PROGRAM);
  return existsSync(beside) ? beside : join(here, "..", "..", "..", "dist", PROGRAM);
}
