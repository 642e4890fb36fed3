// Output in files of the job's own: while it runs, when it ends, and where it cannot be written.

import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { found } from "../fake-server.ts";
import { type Rig, rig } from "../rig.ts";
import { DEFAULT_SOFTWARE } from "../software-options.ts";

// Not below /tmp, which attempts of mapped users do not share with the node.
const folder = mkdtempSync("/var/tmp/lattice-output-");
const inFolder = (name: string): string => join(folder, name);
const read = (name: string): string => (existsSync(inFolder(name)) ? readFileSync(inFolder(name), "utf8") : "");
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 9 }));

describe("as the agent's own user", () => {
  let r: Rig;
  beforeAll(async () => {
    r = await rig({ options: { killWorkloadsOnExit: false } });
  });
  afterAll(() => r.close());

  test("both streams go to one file in order, complete at the end", async () => {
    const entrypoint = "echo one; echo two >&2; echo three";
    r.server.run({
      allocationId: "31",
      name: "demo",
      workdir: folder,
      nodes: ["n1"],
      entrypoint,
      output: { file: "%x-%j-%N.out" },
    });
    await r.server.end("31");
    expect(read("demo-31-n1.out")).toBe("one\ntwo\nthree\n");
    expect(r.file("31", "stdout")).toBe("one\ntwo\nthree\n");
  });

  test("element patterns, a separate file for stderr, and appending work", async () => {
    writeFileSync(inFolder("46_3.out"), "before\n");
    const output = { file: inFolder("%A_%a.out"), errorFile: "46.err", append: true };
    r.server.run({ allocationId: "46_3", workdir: folder, entrypoint: "echo out; echo err >&2", output });
    await r.server.end("46_3");
    expect([read("46_3.out"), read("46.err")]).toEqual(["before\nout\n", "err\n"]);
    expect(r.file("46_3", "stderr")).toBe("err\n");
  });

  test("the file grows while the job runs, across an agent restart, and the exit status is the job's", async () => {
    const entrypoint = `echo first; until [ -e ${inFolder("go")} ]; do sleep 0.1; done; echo last; exit 7`;
    r.server.run({ allocationId: "32", workdir: folder, entrypoint, output: { file: "long.out" } });
    await found(() => read("long.out") === "first\n");
    await r.restart();
    writeFileSync(inFolder("go"), "");
    expect((await r.server.end("32")).exitCode).toBe(7);
    expect(read("long.out")).toBe("first\nlast\n");
  });

  test("output after SIGTERM is copied, and no process is left", async () => {
    const entrypoint = 'trap "echo ending; exit 0" TERM; echo started; while :; do sleep 0.1; done';
    r.server.run({ allocationId: "33", workdir: folder, entrypoint, output: { file: "stopped.out" } });
    await found(() => read("stopped.out") === "started\n");
    r.server.stop({ allocationId: "33", graceSeconds: 20 });
    await r.server.end("33");
    expect(read("stopped.out")).toMatch(/^started\n(Terminated\n)?ending\n$/);
  });

  test("large output is copied completely", async () => {
    const entrypoint = "seq 1 200000; sleep 1.5; seq 200001 300000";
    r.server.run({ allocationId: "34", workdir: folder, entrypoint, output: { file: "much.out" } });
    await r.server.end("34");
    expect(read("much.out")).toBe(r.file("34", "stdout"));
    expect(read("much.out").endsWith("\n300000\n")).toBe(true);
  });

  test("a missing directory fails the attempt with the reason", async () => {
    const output = { file: "/no/such/folder/x.out" };
    r.server.run({ allocationId: "35", workdir: folder, entrypoint: `touch ${inFolder("ran")}`, output });
    const end = await r.server.end("35");
    expect(end.message).toContain("the output file: cannot create /no/such/folder/x.out");
    expect(existsSync(inFolder("ran"))).toBe(false);
  });

  test("a file with if_possible that cannot be written: the attempt runs, and its output states it", async () => {
    const output = { file: "/no/such/folder/x.out", ifPossible: true };
    r.server.run({ allocationId: "36", workdir: folder, entrypoint: "echo here; echo there >&2", output });
    await r.server.end("36");
    expect(r.file("36", "stdout")).toBe("here\n");
    expect(r.file("36", "stderr")).toMatch(/^lattice: the output is not written: cannot create .*\nthere\n$/);
  });

  test("the first of several nodes writes, unless the path differs by node", async () => {
    const second = { workdir: folder, nodes: ["n0", "n1"], nodeIndex: 1, entrypoint: "echo second" };
    r.server.run({ allocationId: "37", ...second, output: { file: "shared.out" } });
    r.server.run({ allocationId: "38", ...second, output: { file: "own-%n-%N.out" } });
    await Promise.all([r.server.end("37"), r.server.end("38")]);
    expect([existsSync(inFolder("shared.out")), read("own-1-n1.out")]).toEqual([false, "second\n"]);
  });
});

describe.runIf(process.getuid?.() === 0)("as a mapped user", () => {
  const UNPRIVILEGED = 54_330;
  let r: Rig;
  beforeAll(async () => {
    chmodSync(folder, 0o755);
    writeFileSync(inFolder("users"), `ada ${UNPRIVILEGED} ${UNPRIVILEGED}\n`);
    r = await rig({
      options: { software: { ...DEFAULT_SOFTWARE, userMapping: { kind: "file", path: inFolder("users") } } },
    });
  });
  afterAll(() => r.close());

  test("files are opened as the job's user, so links and directories of others give no access", async () => {
    mkdirSync(inFolder("open"), { mode: 0o777 });
    chmodSync(inFolder("open"), 0o777);
    writeFileSync(inFolder("precious"), "precious\n", { mode: 0o644 });
    symlinkSync(inFolder("precious"), inFolder("open/link.out"));
    const base = { user: "ada", workdir: inFolder("open"), entrypoint: "id -u" };
    r.server.run({ allocationId: "41", ...base, output: { file: "mine.out" } });
    r.server.run({ allocationId: "42", ...base, output: { file: "link.out" } });
    r.server.run({ allocationId: "43", ...base, output: { file: inFolder("root.out") } });
    const [, link, root] = await Promise.all(["41", "42", "43"].map((id) => r.server.end(id)));
    expect(read("open/mine.out")).toBe(`${UNPRIVILEGED}\n`);
    expect([link?.message, root?.message]).toEqual([
      expect.stringContaining("Permission denied"),
      expect.stringContaining("Permission denied"),
    ]);
    expect([read("precious"), existsSync(inFolder("root.out"))]).toEqual(["precious\n", false]);
  });
});
