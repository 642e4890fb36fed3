// A certificate authority for a test, created by `lattice admin pki` in the test's directory.
import { join } from "node:path";
import { runCli } from "./cli.ts";
import { HOST } from "./host.ts";

export interface TestPki {
  readonly dir: string;
  path(file: string): string;
  issue(name: string, ...words: readonly string[]): Promise<void>;
  run(...words: readonly string[]): Promise<string>;
}

/** Flags for a server on this machine. */
export const SERVER_FLAGS = ["--kind", "server", "--host", "localhost", "--host", "127.0.0.1", "--host", HOST];

export async function makePki(dir: string): Promise<TestPki> {
  const run = async (...words: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await runCli(["admin", "pki", ...words, "--dir", dir]);
    if (code !== 0) throw new Error(`lattice admin pki ${words.join(" ")}: ${stderr}`);
    return stdout;
  };
  await run("init", "--site", "test");
  return {
    dir,
    path: (file) => join(dir, file),
    issue: async (name, ...words) => void (await run("issue", name, ...words)),
    run,
  };
}
