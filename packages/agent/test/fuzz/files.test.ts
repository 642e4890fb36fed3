// Ten thousand seeded contents of the files that programs of users write for their agent, orders to a shepherd, and the
// agent's own records after a damaged disk: each is read as something valid, or as nothing.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { addressProblem } from "../../src/checkpoint/callback.ts";
import { type Control, readDone, readEndpoint, requestedNumber } from "../../src/checkpoint/control.ts";
import { readFlag } from "../../src/checkpoint/shared-flag.ts";
import { readAttempt, readCopiers, readGroup, readInit } from "../../src/runtime/base/attempt-files.ts";
import { readLaunch } from "../../src/runtime/base/launch-file.ts";
import { decodeOrder, frameReader } from "../../src/tasks/frames.ts";
import { parseReported } from "../../src/telemetry/reported-metrics.ts";

const RUNS = { numRuns: 10_000, seed: 17 };
const LIMIT_MS = 60_000;
const MAX_TEXT = 4_096;

/** Parts of valid files with random bytes between them. */
const content = (words: readonly string[]): fc.Arbitrary<Buffer> =>
  fc
    .array(fc.oneof(fc.constantFrom(...words), fc.string({ unit: "binary", maxLength: 12 }), fc.bigInt().map(String)), {
      maxLength: 12,
    })
    .map((parts) => Buffer.from(parts.join("")).subarray(0, MAX_TEXT));
const bytes = fc.uint8Array({ maxLength: 64 }).map((all) => Buffer.from(all));

const CONTROL = ["CHECKPOINT_NUMBER=", "CHECKPOINT_DIR=", "\n", "failed", ": ", "7", "1e9", "-", "9".repeat(400)];
const ENDPOINT = [
  "http://",
  "localhost",
  "127.0.0.1",
  "[::1]",
  ":",
  "8080",
  "unix:",
  "/",
  "@",
  "\n",
  "169.254.169.254",
];
const METRICS = ["gpu_load ", "x", " ", "\n", "1.5", "1e999", "NaN", "-", "__proto__ 1\n", "constructor 2\n", "\t"];

test(
  "control files of checkpoints",
  () =>
    fc.assert(
      fc.asyncProperty(fc.oneof(content(CONTROL), content(ENDPOINT), bytes), async (text) => {
        const nothing = async (): Promise<void> => undefined;
        const files = { head: async () => text, put: nothing, drop: nothing, poke: nothing };
        const control: Control = { control: "/c", owner: null, files };
        expect(await requestedNumber(control)).toBeGreaterThanOrEqual(0);
        const done = await readDone(control, 7);
        if (done !== null) expect(done.message.length).toBeLessThanOrEqual(1_000);
        const endpoint = await readEndpoint(control);
        if (addressProblem(endpoint) === null)
          expect(endpoint).toMatch(/^(unix:\/|(http:\/\/)?(localhost|127\.|\[::1\]))/);
        for (const value of Object.values((await readFlag(control)) ?? {})) expect(value).toBeGreaterThanOrEqual(0);
      }),
      RUNS,
    ),
  LIMIT_MS,
);

test(
  "metrics of programs",
  () => {
    fc.assert(
      fc.property(fc.oneof(content(METRICS), bytes), (text) => {
        const values = Object.entries(parseReported(text.toString()));
        expect(values.length).toBeLessThanOrEqual(64);
        for (const [name, value] of values)
          expect([/^[a-z_][\w:]{0,63}$/i.test(name), Number.isFinite(value)]).toEqual([true, true]);
      }),
      RUNS,
    );
  },
  LIMIT_MS,
);

test(
  "orders to a shepherd",
  () => {
    const body = fc.oneof(
      fc.json({ maxDepth: 2 }).map((text) => Buffer.from(text)),
      fc
        .constantFrom("spec", "input", "kill", "taken", "__proto__")
        .map((kind) => Buffer.from(JSON.stringify({ kind }))),
      bytes,
    );
    const frame = fc.tuple(body, fc.nat(3), fc.nat(3)).map(([inside, kind, lie]) => {
      const head = Buffer.alloc(5);
      head.writeUInt32LE(inside.length + (lie === 0 ? 1_000_003 : 0), 0);
      head.writeUInt8(kind, 4);
      return Buffer.concat([head, inside]);
    });
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 4 }), fc.nat(40), (frames, cut) => {
        const reasons: string[] = [];
        const read = frameReader({
          maxBytes: 10_000,
          decode: decodeOrder,
          take: (order) => expect(typeof order.kind).toBe("string"),
          broken: (reason) => void reasons.push(reason),
        });
        const all = Buffer.concat(frames);
        read(all.subarray(0, cut));
        read(all.subarray(cut));
        expect(reasons.length).toBeLessThanOrEqual(1);
      }),
      RUNS,
    );
  },
  LIMIT_MS,
);

/** In memory where possible: a disk delays each file that is written again. */
const dir = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "lattice-fuzz-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test(
  "records of an attempt",
  () => {
    const ORDER = [
      '{"bootId":"b","arrivedAtMs":1,"order":',
      '{"allocationId":"7"}',
      "}",
      "null",
      "[]",
      '"',
      "launch ",
      "prologue ",
    ];
    const record = fc.oneof(content([...ORDER, "\n", "12 ", "# ", "0"]), bytes);
    const names = ["order.json", "pid", "exit", "stop", "end.json", "init.pid", "copiers", "launch"];
    fc.assert(
      fc.property(fc.constantFrom(...names), record, (name, text) => {
        writeFileSync(join(dir, name), text);
        const { order, pid, exit } = readAttempt(dir);
        if (order !== null) expect(order.$typeName).toBe("lattice.v1.RunOrder");
        expect(pid === null || Number.isInteger(pid)).toBe(true);
        expect(exit === null || ["code", "not_launched"].includes(exit.kind)).toBe(true);
        expect(readInit(dir)?.pid ?? 1).toBeGreaterThan(0);
        for (const read of [readGroup, readCopiers, readLaunch]) expect(() => read(dir)).not.toThrow();
      }),
      RUNS,
    );
  },
  LIMIT_MS,
);
