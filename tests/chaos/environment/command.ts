// Runs one system command to its end. Its output is bytes; a failure is an error with the command's message.
import { spawn } from "node:child_process";

export interface CommandOptions {
  readonly input?: Uint8Array;
  readonly withinMs?: number;
}

/** No command here takes longer unless something hangs. */
const WITHIN_MS = 20_000;

export function command(words: readonly string[], options: CommandOptions = {}): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const child = spawn(words[0] ?? "", words.slice(1), { stdio: ["pipe", "pipe", "pipe"] });
    const out: Buffer[] = [];
    const output: Buffer[] = [];
    const timer = setTimeout(() => child.kill("SIGKILL"), options.withinMs ?? WITHIN_MS);
    child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => output.push(chunk));
    // A command that exits without reading its input is judged by its status.
    child.stdin.on("error", () => {});
    child.stdin.end(options.input ?? "");
    child.once("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    child.once("close", (code, signal) => {
      clearTimeout(timer);
      if (code === 0) return resolve(Buffer.concat(out));
      const why = Buffer.concat(output).toString("utf8").trim().slice(-500);
      reject(new Error(`${words.join(" ")}: ${signal ?? `status ${code}`} ${why}`));
    });
  });
}
