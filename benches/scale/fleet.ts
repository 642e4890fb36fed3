// Many hollow nodes in one agent process that knows all servers, with connection counts parsed from its log.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../../tests/harness/eventually.ts";
import { type Program, startProgram } from "../../tests/harness/program.ts";

export interface Census {
  readonly atMs: number;
  readonly connected: number;
  readonly hellos: number;
  readonly hellosMost: number;
}

export interface Fleet {
  readonly program: Program;
  /** All counts so far, oldest first. */
  census(): readonly Census[];
  latest(): Census;
  /** Resolves with the first count in which connected nodes were lost. */
  someLost(then: Census): Promise<Census>;
  allConnected(withinMs?: number): Promise<Census>;
}

const WITHIN_MS = 300_000;

export function startFleet(options: {
  readonly dir: string;
  readonly servers: readonly string[];
  readonly nodes: number;
}): Fleet {
  const { dir, servers, nodes } = options;
  const logFile = join(dir, "agent-hollow.log");
  const program = startProgram("lattice-agent", {
    args: [
      ...servers.flatMap((server) => ["--server", server]),
      ...["--data-dir", join(dir, "hollow"), "--hollow", String(nodes)],
    ],
    logFile,
  });
  const census = (): Census[] =>
    readFileSync(logFile, "utf8")
      .split("\n")
      .filter((line) => line.includes('"hollow nodes"'))
      .map((line) => {
        const { time, connected, hellos, hellos_most } = JSON.parse(line) as Line;
        return { atMs: Date.parse(time), connected, hellos, hellosMost: hellos_most };
      });
  const latest = (): Census => census().at(-1) ?? { atMs: 0, connected: 0, hellos: 0, hellosMost: 0 };
  return {
    program,
    census,
    latest,
    someLost: (then) =>
      eventually({ what: "nodes lose their server", withinMs: WITHIN_MS }, () => {
        return census().find((now) => now.atMs > then.atMs && now.connected < then.connected) ?? null;
      }),
    allConnected: (withinMs = WITHIN_MS) =>
      eventually({ what: `${nodes} hollow nodes are connected`, withinMs, everyMs: 200 }, () => {
        if (!program.isRunning()) throw new Error("the hollow agent has ended");
        const now = latest();
        return now.connected === nodes ? now : null;
      }),
  };
}

interface Line {
  readonly time: string;
  readonly connected: number;
  readonly hellos: number;
  readonly hellos_most: number;
}
