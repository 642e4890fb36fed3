// The native launcher of `lattice launch` compared with the full program: equal output, byte for byte, and equal exit
// status, for flags it supports, flags it hands over, and failures.
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { processesIn } from "../harness/processes.ts";
import { cleanEnvironment, programPath } from "../harness/program.ts";
import { type ProgramResult, runProgram } from "../harness/run-program.ts";
import { useCluster } from "../harness/use-cluster.ts";

const cluster = useCluster({ nodes: 2 });
let id = "";
beforeAll(async () => {
  id = await cluster.submit({ nodes: 2, walltime: "1h", command: ["sleep", "3000"] });
  await cluster.reaches(id, ["running"]);
});

/** `first`: `null` for the installed program, or the interpreter to run it with. */
const run = (
  first: string | null,
  words: readonly string[],
  env: Record<string, string> = {},
  started?: () => void,
): Promise<ProgramResult> =>
  runProgram(
    [...(first === null ? [] : [first]), programPath("lattice"), ...words],
    { ...cluster.cliEnvironment(), ...env },
    started,
  );

/** The order between tasks is arbitrary; the output of each is in order. */
const ordered = ({ code, out, err }: ProgramResult) => ({
  code,
  out: out.split("\n").sort(),
  err: err.split("\n").sort(),
});

const show = 'echo "$LATTICE_RANK/$LATTICE_LOCAL_RANK on $LATTICE_NODE: $A $PWD $PMI_FD"; echo aside >&2';
const usual: readonly (readonly [string, readonly string[]])[] = [
  ["tasks on all nodes", ["-n", "3", "sh", "-c", show]],
  ["labelled", ["--tasks=3", "-l", "--tasks-per-node", "2", "sh", "-c", `${show}; printf "no newline"`]],
  ["variables, folder, mode", ["-e", "A=a=b", "--env=B=", "--workdir=/tmp", "--pmi", "none", "sh", "-c", show]],
  ["one node", ["-w", "node-1", "--", "sh", "-c", "echo -- $LATTICE_NNODES; exit 0"]],
  ["a code", ["-n", "1", "sh", "-c", "exit 42"]],
  ["a signal", ["-n", "1", "sh", "-c", "kill -9 $$"]],
  ["no such program", ["-n", "1", "no-such-program"]],
  ["bytes of all kinds", ["-n", "1", "printf", "\\000\\377\\n\\001"]],
  ["quotes", ["-n", "1", "echo", 'a"b\\c\td']],
  ["much", ["-n", "2", "sh", "-c", "head -c 3000000 /dev/zero | tr '\\0' x"]],
];
const handedOver: readonly (readonly [string, readonly string[]])[] = [
  ["other letters", ["-n", "1", "echo", "Grüße"]],
  ["quiet", ["-q", "-n", "1", "sh", "-c", "exit 3"]],
  ["as JSON", ["-o", "json", "-n", "1", "-w", "node-1", "true"]],
  ["a terminal", ["-n", "1", "--pty", "sh", "-c", "test -t 1 && echo terminal"]],
  ["help", ["--help"]],
  ["an unknown flag", ["--frobnicate", "true"]],
  ["a bad number", ["-n", "many", "true"]],
  ["no command", ["-n", "1"]],
  ["too many tasks", ["-n", "5", "--tasks-per-node=2", "true"]],
  ["a foreign node", ["-w", "elsewhere", "true"]],
];

describe("the native launcher and the full program agree", () => {
  test.each([...usual, ...handedOver])("%s", async (name, words) => {
    const all = name === "help" ? ["launch", ...words] : ["launch", `--alloc=${id}`, ...words];
    const small = await run(null, all);
    const whole = await run(process.execPath, all);
    const withoutNames = ({ out, ...rest }: ProgramResult): ProgramResult => ({
      ...rest,
      out: out.replaceAll(/"launch_?[iI]d":"[^"]*"/g, ""),
    });
    expect(ordered(withoutNames(small))).toEqual(ordered(withoutNames(whole)));
  });

  test("both report a missing allocation, an unknown one and an unreachable server alike", async () => {
    for (const words of [["true"], ["--alloc=999999", "true"], ["--alloc=x y", "true"]])
      expect(await run(null, ["launch", ...words])).toEqual(await run(process.execPath, ["launch", ...words]));
    const unreachable = { LATTICE_API_URL: "http://127.0.0.1:1" };
    const words = ["launch", `--alloc=${id}`, "true"];
    expect(await run(null, words, unreachable)).toEqual(await run(process.execPath, words, unreachable));
  });
});

describe("without Node on the PATH", () => {
  const bare = (): Record<string, string> => ({ PATH: join(cluster.dir, "bare") });
  beforeAll(() => {
    mkdirSync(join(cluster.dir, "bare"));
    for (const tool of ["sh", "readlink"]) symlinkSync(`/bin/${tool}`, join(cluster.dir, "bare", tool));
  });

  test.each(usual.slice(0, 5))("%s: the native launcher suffices", async (_name, words) => {
    const done = await run(null, ["launch", `--alloc=${id}`, ...words], bare());
    expect(done.err).not.toContain("cannot start node");
    expect(done.out === "" ? done.code : done.out).toBeTruthy();
  });

  test("the native launcher reads the server address from the configuration and leaves unusual settings to the full program", async () => {
    const home = join(cluster.dir, "other-home");
    mkdirSync(join(home, ".config", "lattice"), { recursive: true });
    const write = (text: string) => writeFileSync(join(home, ".config", "lattice", "config.yaml"), text);
    const env = { ...bare(), HOME: home, LATTICE_API_URL: "", XDG_CONFIG_HOME: join(home, ".config") };
    const words = ["launch", `--alloc=${id}`, "-n", "1", "echo", "found"];
    write(`# mine\napi_url: "${cluster.apiUrl}"\nuser: ${userInfo().username}\n`);
    expect(await run(null, words, env)).toEqual({ code: 0, out: "found\n", err: "" });
    write(`api_url: "${cluster.apiUrl}"\ntypo: x\n`);
    const odd = await run(null, words, env);
    expect(odd).toMatchObject({ code: 127, out: "", err: expect.stringContaining("cannot start node") });
    const whole = await run(null, words, { ...env, PATH: process.env.PATH ?? "" });
    expect(whole.err).toContain('unknown key "typo"');
  });
});

const asleep = (mark: string) =>
  processesIn(cluster.dir).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8") === `sleep\0${mark}\0`;
    } catch {
      return false;
    }
  });

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 130],
  ["SIGKILL", null],
] as const)("%s ends the tasks", async (signal, code) => {
  const words = ["launch", `--alloc=${id}`, "-n", "2", "sleep", "2718"];
  const child = spawn(programPath("lattice"), words, {
    stdio: "ignore",
    env: cleanEnvironment(cluster.cliEnvironment()),
  });
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  await eventually({ what: "the tasks run" }, () => (asleep("2718").length === 2 ? true : null));
  child.kill(signal);
  expect(await ended).toBe(code);
  await eventually({ what: "the tasks are gone" }, () => (asleep("2718").length === 0 ? true : null));
});

test("the native launcher reports an interrupted launch like the full program", async () => {
  const words = ["launch", `--alloc=${id}`, "-n", "1", "sh", "-c", "echo started; exec sleep 3141"];
  const hasty = { LATTICE_LAUNCH_PATIENCE: "1" };
  let heard = 0;
  const started = (): void => {
    heard += 1;
  };
  const both = [run(null, words, hasty, started), run(process.execPath, words, hasty, started)];
  await eventually({ what: "both have heard of their task" }, () => (heard === 2 ? true : null));
  await cluster.server.kill();
  const [small, whole] = await Promise.all(both);
  expect(small?.code).toBe(whole?.code);
  for (const one of [small, whole]) {
    expect(one?.out).toBe("started\n");
    expect(one?.err).toMatch(/the launch was interrupted/);
  }
});
