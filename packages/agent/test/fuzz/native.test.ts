// Seeded inputs for the native programs of a root agent: none ends lattice-files, each request has one answer, and plans
// of lattice-mounts end by an exit status and never by a signal. The programs are root of a user namespace, that is: they
// take root's paths through the code, and can change only what an ordinary user can.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { builtBeside } from "../../src/base/built-beside.ts";
import { encodeRequest, fieldsOf, readReplies } from "../../src/files/messages.ts";

const RUNS = 10_000;
const PLANS = 10_000;
const SEED = 17;
const LIMIT_MS = 120_000;
const UID = 61_234;
const AT_ONCE = 64;
const programOf = (name: string): string => builtBeside(name) ?? `${name} was not built`;
const asRootOfNothing = ["--reuid", String(UID), "--regid", String(UID), "--clear-groups", "--"];
const unshared = ["unshare", "--user", "--map-root-user", "--mount", "--propagation", "private", "--"];

describe.runIf(process.getuid?.() === 0)("native programs", () => {
  const top = mkdtempSync("/var/tmp/lattice-fuzz-");
  const [box, victim] = [join(top, "box"), join(top, "victim")];

  beforeAll(() => {
    chmodSync(top, 0o755);
    for (const folder of [box, victim]) mkdirSync(folder, { mode: 0o755 });
    writeFileSync(join(victim, "precious"), "precious\n");
    const files = `mkdir -p d/e 1 2 10; echo text >f; echo text >d/e/f; mkfifo pipe; ln -s ${victim} link; ln -s f name`;
    execFileSync("/bin/sh", ["-ec", files], { cwd: box });
    execFileSync("chown", ["-hR", `${UID}:${UID}`, box]);
  });
  // The inputs make trees that are too deep for Node's own removal.
  afterAll(() => void execFileSync("rm", ["-rf", top]));

  const number = fc.oneof(
    fc.nat(1_000).map(String),
    fc.constantFrom(
      "-1",
      "00",
      "0x1",
      "1e9",
      "4294967295",
      "4294967296",
      "99999999999999999999",
      " 1",
      "1,2,",
      ",",
      "755",
    ),
  );
  const path = fc.constantFrom(
    ...[
      "",
      "d",
      "d/e",
      "f",
      "pipe",
      "link",
      "link/precious",
      "name",
      ".",
      "..",
      "../victim",
      "d/../f",
      "new",
      "new/er",
    ].map((name) => join(box, name)),
    ...[
      victim,
      join(victim, "precious"),
      "/dev/zero",
      "/proc/self/environ",
      `${box}//d`,
      `${box}/${"x/".repeat(2_000)}`,
    ],
  );
  /** Neither the root nor the working directory of the program, whose trees are large. */
  const noise = fc.string({ unit: "binary", maxLength: 12 }).map((text) => text.replaceAll(/\0|^[./]+$/g, "x"));
  const word = fc.oneof(
    { weight: 4, arbitrary: path },
    { weight: 4, arbitrary: number },
    fc.constantFrom("d", "f", "1", "a/b/c", "../victim", "..", "precious", "x".repeat(300), "text", ""),
    noise,
  );

  describe("lattice-files", () => {
    const VERBS = ["probe", "folder", "prune", "clear", "make", "reach", "find", "size", "read", "head", "put", "drop"];
    const verb = fc.constantFrom(...VERBS, "poke", "search", "environ", "io", "cancel", "", "FOLDER");
    const user = fc.constantFrom(["0", "0", ""], ["0", "0", "0"], [String(UID), String(UID), "0"], ["x", "-1", ","]);
    const request = fc.record({
      key: fc.oneof(fc.constantFrom("a", "b", "c", ""), noise),
      verb: fc.oneof({ weight: 9, arbitrary: verb }, noise),
      user: fc.option(user, { nil: [] as string[] }),
      words: fc.array(word, { maxLength: 9 }),
      /** The number of a request under way, for one in a few. */
      earlier: fc.nat(AT_ONCE),
    });
    const broken = fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 200 }).map((bytes) => Buffer.from([...bytes, 1])),
      fc.nat(3_000).map((fields) => Buffer.alloc(fields + 4_097)),
      fc.nat(1_000).map((more) => Buffer.alloc(256 * 1_024 + more, "x")),
    );
    const framed = (payload: Buffer): Buffer => {
      const length = Buffer.alloc(4);
      length.writeUInt32LE(payload.length);
      return Buffer.concat([length, payload]);
    };

    function started(): ChildProcess {
      const words = [...asRootOfNothing, ...unshared, programOf("lattice-files"), "root-jobs"];
      return spawn("setpriv", words, { cwd: "/", env: { PATH: "/usr/bin:/bin" }, stdio: ["pipe", "pipe", "inherit"] });
    }

    test(
      `${RUNS} requests have one answer each, and change nothing of root's`,
      async () => {
        const child = started();
        const answers: string[] = [];
        let wake: () => void = () => undefined;
        readReplies(
          child.stdout as NonNullable<ChildProcess["stdout"]>,
          (reply) => {
            answers.push(fieldsOf(reply, 4).slice(0, 4).join(" ").trimEnd());
            wake();
          },
          () => child.kill("SIGKILL"),
        );
        const inputs = fc.sample(fc.oneof({ weight: 50, arbitrary: request }, broken), { numRuns: RUNS, seed: SEED });
        let expected = 0;
        const until = async (count: number): Promise<void> => {
          while (answers.length < count && child.exitCode === null)
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
        };
        for (const [n, input] of inputs.entries()) {
          if (Buffer.isBuffer(input)) {
            child.stdin?.write(framed(input));
            expected += 1;
          } else {
            const { key, verb: asked, user: whose, words, earlier } = input;
            const fields =
              asked === "cancel" ? [String(n - earlier), "", asked] : [String(n), key, asked, ...whose, ...words];
            child.stdin?.write(encodeRequest(fields) as Buffer);
            if (asked !== "cancel") expected += 1;
          }
          await until(expected - AT_ONCE);
        }
        await until(expected);
        child.stdin?.write(encodeRequest(["last", "", "probe"]) as Buffer);
        await until(expected + 1);
        expect(answers.at(-1)).toBe("last ok");
        expect(answers).toHaveLength(expected + 1);
        const ids = answers.map((answer) => answer.split(" ")[0]).filter((id) => /^\d+$/.test(id ?? ""));
        expect(new Set(ids).size).toBe(ids.length);
        // As the program reports a process that crashed.
        expect(answers.filter((answer) => answer.includes("ended without a result"))).toEqual([]);
        expect(answers.filter((answer) => /^\S* ok( |$)/.test(answer)).length).toBeGreaterThan(RUNS / 50);
        expect(child.exitCode).toBeNull();
        child.stdin?.end();
        await new Promise((resolve) => child.once("exit", resolve));
        expect([child.exitCode, child.signalCode]).toEqual([0, null]);
        expect(readFileSync(join(victim, "precious"), "utf8")).toBe("precious\n");
        for (const name of [victim, join(victim, "precious")]) expect(statSync(name).uid).toBe(0);
      },
      LIMIT_MS,
    );

    test("streams that end anywhere, or lie about their length, end it without a signal", async () => {
      const lies = fc.sample(fc.tuple(fc.uint8Array({ maxLength: 64 }), fc.nat(0xffffffff)), {
        numRuns: 60,
        seed: SEED,
      });
      const ends = lies.map(([bytes, length]) => {
        const head = Buffer.alloc(4);
        head.writeUInt32LE(length);
        const child = started();
        child.stdout?.resume();
        child.stdin?.on("error", () => undefined).end(Buffer.concat([head, bytes]));
        return new Promise((resolve) => child.once("exit", (code, signal) => resolve([code, signal])));
      });
      for (const end of await Promise.all(ends)) expect(end).toEqual([0, null]);
    });
  });

  describe("lattice-mounts", () => {
    const access = fc.constantFrom("ro", "rw", "rx", "");
    const ids = fc.constantFrom(
      ["0", "0", "", "root"],
      ["0", "0", "0,1", "x"],
      ["-1", "0", "", "x"],
      ["1", "2", ",", "x"],
    );
    const target = fc.oneof(
      path,
      fc.constantFrom("/tmp", "/var/tmp", "/dev/shm", "@data", "@", "@a/b", "/mnt/x", "relative"),
    );
    const counted = (words: readonly string[], lie: number): string[] => [String(words.length + lie), ...words];
    const lie = fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, fc.integer({ min: -2, max: 2 ** 31 }));
    const field: fc.Arbitrary<readonly string[]> = fc.oneof(
      fc.tuple(fc.constantFrom("protect", "allow", "home", "workdir", "folder", "keep", "private", "secret"), path),
      fc.tuple(fc.constantFrom("user", "rights"), ids).map(([name, of]) => [name, ...of]),
      fc.tuple(fc.constantFrom("bind", "own"), access, path, target),
      fc.tuple(fc.constant("image"), path, target),
      fc.tuple(fc.constant("memory"), number, target),
      fc
        .tuple(
          fc.array(
            noise.map((text) => `A=${text}`),
            { maxLength: 3 },
          ),
          lie,
        )
        .map(([all, more]) => ["variables", ...counted(all, more)]),
      fc
        .tuple(access, target, fc.array(fc.constantFrom("/bin/true", "/bin/false", "{}", box), { maxLength: 3 }), lie)
        .map(([how, at, words, more]) => ["run", how, at, ...counted(words, more)]),
      fc.constantFrom(["confined"], ["enter"], ["shared-memory"]),
      fc.array(word, { maxLength: 3 }),
    );
    const plan = fc.tuple(fc.boolean(), fc.array(field, { maxLength: 7 }), fc.nat(60)).map(([isWhole, fields, cut]) => {
      const all = [
        ...(isWhole
          ? [
              ["folder", box],
              ["allow", box],
            ]
          : []),
        ...fields,
      ].flat();
      const bytes = Buffer.from(all.map((each) => `${each}\0`).join(""));
      return cut === 0 ? bytes.subarray(0, bytes.length - 1) : bytes;
    });

    test(
      `${PLANS} plans end by an exit status, and change nothing of root's`,
      () => {
        const [plans, manyPlans] = [join(top, "plans"), join(top, "many-plans")];
        const sources = join(import.meta.dirname, "../../native/mounts");
        const inputs = readdirSync(sources).filter((name) => name.endsWith(".c"));
        const flags = ["-O1", "-g", "-D_GNU_SOURCE", "-fsanitize=undefined", "-fno-sanitize-recover=all"];
        execFileSync("cc", [
          ...[...flags, "-Dmain=lattice_mounts", "-r", "-o", join(top, "mounts.o")],
          ...inputs.map((name) => join(sources, name)),
        ]);
        execFileSync("cc", [
          ...flags,
          "-o",
          manyPlans,
          join(import.meta.dirname, "many-plans.c"),
          join(top, "mounts.o"),
        ]);
        mkdirSync(plans);
        for (const [n, bytes] of fc.sample(plan, { numRuns: PLANS, seed: SEED }).entries()) {
          writeFileSync(join(plans, String(n)), bytes);
          chownSync(join(plans, String(n)), UID, UID);
        }
        const words = [...asRootOfNothing, ...unshared, manyPlans, plans, String(PLANS)];
        const statuses = execFileSync("setpriv", words, { encoding: "utf8", cwd: "/" }).trim().split("\n");
        expect(statuses).toHaveLength(PLANS);
        expect([...new Set(statuses)].toSorted()).toEqual(["0", "126"]);
        expect(statuses.filter((status) => status === "0").length).toBeGreaterThan(PLANS / 50);
        expect(readFileSync(join(victim, "precious"), "utf8")).toBe("precious\n");
        expect(execFileSync("findmnt", ["-rn", "-o", "TARGET"], { encoding: "utf8" })).not.toContain(top);
      },
      LIMIT_MS,
    );
  });
});
