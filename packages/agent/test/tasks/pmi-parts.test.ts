// The pieces of PMI on their own: spelling, cutting, aborting, and what makes a rank unfinished.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAX_REPORT_BYTES } from "../../src/tasks/base/exchange-limits.ts";
import { encodeReport } from "../../src/tasks/frames.ts";
import { framing, MAX_MESSAGE_BYTES } from "../../src/tasks/pmi/framing.ts";
import { processMapping } from "../../src/tasks/pmi/mapping.ts";
import { pmiServer } from "../../src/tasks/pmi/server.ts";
import { formatPairs, LENGTH_BYTES, parseLine, parsePairs } from "../../src/tasks/pmi/words.ts";

const output = (cmd: string, fields: Record<string, string> = {}) => ({ cmd, fields: new Map(Object.entries(fields)) });

describe("spelling", () => {
  test("PMI-2 pairs preserve any value", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary-ascii" }), fc.string(), (value, tail) => {
        const text = formatPairs("x", { key: "a", value }).slice(LENGTH_BYTES);
        const parsed = parsePairs(text + tail.replaceAll(/[=;]/g, "\0"));
        return parsed?.fields.get("value") === value && parsed.cmd === "x";
      }),
    );
  });

  test("a line without a command is no message", () => {
    expect(parseLine("key=value")).toBeNull();
    expect(parsePairs("nonsense")).toBeNull();
  });

  test.each([
    [[2, 2], "(vector,(0,2,2))"],
    [[3, 2], "(vector,(0,1,3),(1,1,2))"],
    [[4, 4, 1], "(vector,(0,2,4),(2,1,1))"],
    [[1], "(vector,(0,1,1))"],
  ])("%j ranks on the nodes is %s", (tasks, mapping) => {
    expect(processMapping(tasks)).toBe(mapping);
  });
});

describe("framing", () => {
  test("messages are the same however their bytes are split", () => {
    const bytes = Buffer.from(
      `cmd=init pmi_version=2 pmi_subversion=0\n${formatPairs("fullinit", { a: "b;c" })}`,
      "latin1",
    );
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length)), (places) => {
        const cuts = [0, ...places.sort((a, b) => a - b), bytes.length];
        const cut = framing();
        const found = cuts.slice(1).flatMap((to, n) => cut.push(bytes.subarray(cuts[n], to)));
        expect(found.map((one) => (one.kind === "message" ? one.message.cmd : one.detail))).toEqual([
          "init",
          "fullinit",
        ]);
      }),
    );
  });

  test("bytes that are no PMI are reported once", () => {
    const cut = framing();
    expect(cut.push(Buffer.from("GET / HTTP/1.1\n"))).toMatchObject([{ kind: "malformed" }]);
    expect(cut.push(Buffer.from("more\n"))).toEqual([]);
    const endless = framing();
    expect(endless.push(Buffer.alloc(MAX_MESSAGE_BYTES + 1, "x"))).toMatchObject([{ kind: "malformed" }]);
  });
});

describe("the server", () => {
  const job = { jobId: "j", size: 2, ranks: [0, 1], mapping: "" };

  test("an abort carries its code, or 1 without one", () => {
    const server = pmiServer(job);
    expect(server.receive(1, 1, output("abort", { exitcode: "7" }))).toEqual([
      { kind: "abort", rank: 1, exitCode: 7, message: "" },
    ]);
    expect(server.receive(0, 2, output("abort", { isworld: "TRUE", msg: "bye" }))).toEqual([
      { kind: "abort", rank: 0, exitCode: 1, message: "bye" },
    ]);
  });

  test("a rank is unfinished between init and finalize", () => {
    const server = pmiServer(job);
    expect(server.unfinished(0)).toBe(false);
    server.receive(0, 1, output("init", { pmi_version: "1", pmi_subversion: "1" }));
    expect(server.unfinished(0)).toBe(true);
    server.receive(0, 1, output("finalize"));
    expect(server.unfinished(0)).toBe(false);
  });

  test("a fence delivers new entries once, and a late or repeated end changes nothing", () => {
    const server = pmiServer(job);
    server.receive(0, 1, output("put", { key: "a", value: "1" }));
    expect(server.receive(0, 1, output("barrier_in"))).toEqual([]);
    expect(server.wiringUp()).toBe(true);
    expect(server.fenceDone(1, [])).toEqual([]);
    expect(server.receive(1, 1, output("barrier_in"))).toEqual([{ kind: "fence", number: 1, entries: [["a", "1"]] }]);
    expect(server.fenceDone(1, [["a", "1"]])).toHaveLength(2);
    expect(server.fenceDone(1, [["a", "1"]])).toEqual([]);
    server.receive(0, 1, output("barrier_in"));
    // A wait without addresses, after they have been exchanged, may take as long as the program does.
    expect(server.wiringUp()).toBe(false);
    expect(server.receive(1, 1, output("barrier_in"))).toEqual([{ kind: "fence", number: 2, entries: [] }]);
  });

  test("an unsupported command is refused, not left unanswered", () => {
    const server = pmiServer(job);
    expect(server.receive(0, 1, output("jump"))).toMatchObject([{ text: "cmd=jump_result rc=-1 msg=unsupported\n" }]);
    expect(server.receive(0, 2, output("jump"))).toMatchObject([{ kind: "reply" }]);
  });

  test("a spawn request is refused once, with a message for the user", () => {
    const server = pmiServer(job);
    const cut = framing();
    const wanted = (so: number) =>
      `mcmd=spawn\nnprocs=2\nexecname=./a b\ntotspawns=2\nspawnssofar=${so}\nargcnt=1\narg1=x\nendcmd\n`;
    const take = (text: string) =>
      cut
        .push(Buffer.from(text))
        .flatMap((one) => (one.kind === "message" ? server.receive(0, one.version, one.message) : []));
    expect(take(wanted(1))).toEqual([]);
    expect(take(wanted(2))).toMatchObject([
      { kind: "spawn", rank: 0 },
      { kind: "reply", text: "cmd=spawn_result rc=-1 msg=unsupported\n" },
    ]);
    expect(take("cmd=get_maxes\n")).toMatchObject([{ kind: "reply" }]);
    expect(server.receive(1, 2, output("spawn"))).toMatchObject([{ kind: "spawn", rank: 1 }, { kind: "reply" }]);
  });

  test("name requests are passed on and answered in the rank's version", () => {
    const server = pmiServer(job);
    const [asked] = server.receive(1, 1, output("publish_name", { service: "ocean", port: "tag#0$" }));
    expect(asked).toEqual({ kind: "name", rank: 1, version: 1, act: "publish", name: "ocean", value: "tag#0$" });
    if (asked?.kind !== "name") throw new Error("a question was expected");
    expect(server.named(asked, { problem: "", found: [] })).toMatchObject([
      { rank: 1, text: "cmd=publish_result info=ok rc=0 msg=success\n" },
    ]);
    expect(server.named(asked, { problem: "taken", found: [] })).toMatchObject([
      { text: "cmd=publish_result info=ok rc=1 msg=key_already_present\n" },
    ]);
    const [looked] = server.receive(0, 2, output("name-lookup", { name: "ocean" }));
    if (looked?.kind !== "name") throw new Error("a question was expected");
    const [answer] = server.named(looked, { problem: "", found: [["ocean", "a;b"]] });
    expect(answer).toMatchObject({ rank: 0, text: expect.stringContaining("value=a;;b;") });
    const [gone] = server.named(looked, { problem: "unknown", found: [] });
    expect(gone).toMatchObject({ text: expect.stringContaining("rc=1;errmsg=service_not_found;") });
  });

  const put = (server: ReturnType<typeof pmiServer>, key: string, value: string) =>
    server.receive(0, 1, output("put", { key, value }));

  test("a key or value beyond the announced lengths is refused and not kept", () => {
    const server = pmiServer(job);
    expect(put(server, "k", "v".repeat(1025))).toMatchObject([{ kind: "reply", text: expect.stringMatching(/rc=-1/) }]);
    expect(put(server, "k".repeat(65), "v")).toMatchObject([{ kind: "reply", text: expect.stringMatching(/rc=-1/) }]);
    expect(server.receive(0, 2, output("kvs-put", { key: "k", value: "v".repeat(1025) }))).toMatchObject([
      { kind: "reply", text: expect.stringMatching(/rc=1;errmsg=/) },
    ]);
    expect(server.receive(0, 1, output("get", { key: "k" }))).toMatchObject([
      { text: expect.stringMatching(/k_not_found/) },
    ]);
    expect(put(server, "k".repeat(64), "v".repeat(1024))).toMatchObject([{ text: expect.stringMatching(/rc=0/) }]);
  });

  test("more values before one fence than a report carries end the launch with the reason", () => {
    const server = pmiServer(job);
    const effects = Array.from({ length: 6_200 }, (_, n) => put(server, `k${n}`, "v".repeat(1024))).flat();
    const abort = effects.find(({ kind }) => kind === "abort");
    expect(abort).toMatchObject({ rank: 0, message: "the ranks of this node put more than 6 MiB before a fence" });
    const fence = [0, 1].flatMap((rank) => server.receive(rank, 1, output("barrier_in")));
    const brought = fence.find((effect) => effect.kind === "fence");
    const size = encodeReport({ number: 1, report: { ...brought, kind: "fence" } as never }).length;
    expect(size).toBeLessThan(MAX_REPORT_BYTES);
  });

  test("values of all fences have a limit", () => {
    const server = pmiServer(job);
    let message = "";
    for (let fence = 1; fence <= 12 && message === ""; fence += 1) {
      for (let n = 0; n < 5_500; n += 1) put(server, `${fence}.${n}`, "v".repeat(1024));
      const entered = [0, 1].flatMap((rank) => server.receive(rank, 1, output("barrier_in")));
      for (const effect of entered) {
        if (effect.kind !== "fence") continue;
        for (const after of server.fenceDone(effect.number, [...effect.entries, ["o", `of-${fence}`]]))
          if (after.kind === "abort") message = after.message;
      }
      for (const effect of put(server, "last", "v")) if (effect.kind === "abort") message = effect.message;
    }
    expect(message).toBe("the ranks of the launch keep more than 64 MiB of PMI values");
  });
});
