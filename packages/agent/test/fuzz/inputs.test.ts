// Ten thousand seeded inputs for each parser of what programs of users write, and of what a shepherd or a server sends:
// no input throws, and none takes unbounded time.
import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeReport, frameReader } from "../../src/tasks/frames.ts";
import { framing } from "../../src/tasks/pmi/framing.ts";
import { pmiServer } from "../../src/tasks/pmi/server.ts";
import { reportMessage } from "../../src/tasks/reports.ts";
import { boundedLine } from "../../src/tasks/shepherd/bounded-line.ts";
import { lineCutter, parsePmixLine } from "../../src/tasks/shepherd/pmix-lines.ts";

const RUNS = { numRuns: 10_000, seed: 17 };
/** Far more than any of them needs; a quadratic parser takes minutes. */
const LIMIT_MS = 120_000;

/** Words of the protocols with random bytes between them: plain random bytes rarely get past the first check. */
const text = (words: readonly string[]): fc.Arbitrary<string> =>
  fc
    .array(
      fc.oneof(fc.constantFrom(...words), fc.string({ unit: "binary-ascii", maxLength: 12 }), fc.nat().map(String)),
      {
        maxLength: 24,
      },
    )
    .map((parts) => parts.join(""));

const PMI = [
  ...["cmd=", "init", "put", "get", "kvs-put", "kvs-get", "barrier_in", "kvs-fence", "finalize", "abort", "spawn"],
  ...[
    "info-getnodeattr",
    "info-putnodeattr",
    "publish_name",
    "name-lookup",
    "mcmd=",
    "endcmd",
    "pmi_version=2",
    "fullinit",
  ],
  ...[" key=", " value=", ";key=", ";value=", ";wait=TRUE;", "\n", ";", ";;", "=", " ", "20    ", "999999", "\0"],
];
const PMIX = [
  ...["env ", "ready", "connected ", "finalized ", "fence ", "abort ", "spawn ", "publish ", "lookup ", "unpublish "],
  ...["failed ", "folder /", " ", "\t", "=", "0", "1", "ff", "-1", "\0", "\n"],
];

test(
  "PMI",
  () => {
    fc.assert(
      fc.property(fc.array(text(PMI), { maxLength: 6 }), (chunks) => {
        const server = pmiServer({ jobId: "j", size: 2, ranks: [0, 1], mapping: "" });
        const cut = framing();
        for (const [n, chunk] of chunks.entries()) {
          for (const framed of cut.push(Buffer.from(chunk, "latin1"))) {
            if (framed.kind !== "message") continue;
            for (const effect of server.receive(n % 2, framed.version, framed.message))
              if (effect.kind === "fence") server.fenceDone(effect.number, effect.entries);
          }
        }
        expect(server.waiting()).toBeLessThanOrEqual(2);
      }),
      RUNS,
    );
  },
  LIMIT_MS,
);

test(
  "lines of the PMIx helper",
  () => {
    fc.assert(
      fc.property(text(PMIX), (chunk) => {
        for (const line of lineCutter()(Buffer.from(chunk, "latin1")) ?? []) {
          const said = parsePmixLine(line, { firstRank: 0, tasks: 2 });
          if (said !== null && "rank" in said) expect([0, 1]).toContain(said.rank);
        }
      }),
      RUNS,
    );
  },
  LIMIT_MS,
);

const json = fc.jsonValue({ maxDepth: 3 });
const report = fc.record({
  number: fc.oneof(fc.nat(), json),
  report: fc.oneof(
    json,
    fc.record(
      {
        kind: fc.constantFrom(
          "exit",
          "fence",
          "abort",
          "names",
          "killed",
          "done",
          "output",
          "__proto__",
          "constructor",
        ),
        ...{ rank: fc.oneof(fc.nat(9), json), code: fc.oneof(fc.integer(), json), signal: fc.oneof(fc.nat(9), json) },
        ...{
          message: fc.oneof(fc.string(), json),
          reason: fc.oneof(fc.string(), json),
          number: fc.oneof(fc.nat(), json),
        },
        entries: fc.oneof(fc.array(fc.tuple(fc.string(), fc.string())), json),
      },
      { requiredKeys: ["kind"] },
    ),
  ),
});
const frame = fc.tuple(fc.oneof(report, json), fc.nat(3), fc.boolean()).map(([value, kind, lies]) => {
  const body = Buffer.from(JSON.stringify(value) ?? "");
  const head = Buffer.alloc(5);
  head.writeUInt32LE(lies ? body.length * 1_000_003 : body.length, 0);
  head.writeUInt8(kind, 4);
  return Buffer.concat([head, body]);
});

test(
  "frames of a shepherd become reports to a server, or end the reading",
  () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(frame, fc.uint8Array().map(Buffer.from)), { maxLength: 4 }), (frames) => {
        const reasons: string[] = [];
        const read = frameReader({
          maxBytes: 10_000,
          decode: decodeReport,
          take: (numbered) => expect(reportMessage(numbered, "n1")).toBeDefined(),
          broken: (reason) => void reasons.push(reason),
        });
        for (const bytes of frames) read(bytes);
        expect(reasons.length).toBeLessThanOrEqual(1);
      }),
      RUNS,
    );
  },
  LIMIT_MS,
);

test(
  "text of a user becomes one bounded line",
  () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 60 }), fc.nat(40), (part, times) => {
        const line = boundedLine(part.repeat(times));
        expect(line.length).toBeLessThanOrEqual(1_000);
        expect(line).not.toMatch(/\p{Cc}/u);
      }),
      RUNS,
    );
  },
  LIMIT_MS,
);
