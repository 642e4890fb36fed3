// A program run to its end, with every byte that it wrote: for programs that must say exactly the same.
import { spawn } from "node:child_process";
import { cleanEnvironment } from "./program.ts";

export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** `begun` is called when it writes its first bytes. */
export function ran(
  [program = "", ...words]: readonly string[],
  env: Readonly<Record<string, string>>,
  begun: () => void = () => {},
): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, words, { stdio: ["ignore", "pipe", "pipe"], env: cleanEnvironment(env) });
    const said = { out: "", err: "" };
    child.stdout.once("data", begun);
    child.stdout.on("data", (bytes: Buffer) => (said.out += bytes.toString("latin1")));
    child.stderr.on("data", (bytes: Buffer) => (said.err += bytes.toString("latin1")));
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, ...said }));
  });
}
