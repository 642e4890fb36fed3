// Lists the running gateway processes by their command lines. They belong to no agent: a restarted agent finds those
// of the one before.

import { readdir, readFile } from "node:fs/promises";

/** Of each the words behind its program. */
export async function runningGateways(program: string): Promise<readonly (readonly string[])[]> {
  const names = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(names.map((name) => readFile(`/proc/${name}/cmdline`, "utf8").catch(() => "")));
  return lines.flatMap((line) => {
    const words = line.split("\0").slice(0, -1);
    const at = words.findIndex((word) => word.endsWith(`/${program}`));
    return at < 0 ? [] : [words.slice(at + 1)];
  });
}
