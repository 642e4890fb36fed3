// Logs on their way to the server: whole, tail, followed, cut off, and too large for memory.

import { pb } from "@lattice/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { found, type Log } from "../fake-server.ts";
import { type Rig, rig } from "../rig.ts";

describe("logs", () => {
  let r: Rig;
  let next = 1;
  const id = (): string => String(next++);
  beforeAll(async () => {
    r = await rig();
  });
  afterAll(() => r.close());

  const ask = async (order: Parameters<Rig["server"]["openLogs"]>[0]): Promise<Log> => {
    const streamId = `s${id()}`;
    r.server.openLogs({ streamId, ...order });
    await found(() => r.server.logs.get(streamId)?.ended);
    return r.server.logs.get(streamId) as Log;
  };

  test("the whole log, its tail and both streams are sent", async () => {
    const a = id();
    r.server.run({ allocationId: a, entrypoint: "seq 1 50000; printf last; echo err >&2" });
    await r.server.end(a);
    const whole = await ask({ allocationId: a, stream: pb.LogStream.STDOUT });
    expect(whole.text.split("\n")).toHaveLength(50_001);
    expect(whole.text.endsWith("50000\nlast")).toBe(true);
    expect((await ask({ allocationId: a, tail: 3 })).text).toBe("49999\n50000\nlast");
    expect((await ask({ allocationId: a, tail: 99_999 })).text).toBe(whole.text);
    expect((await ask({ allocationId: a, stream: pb.LogStream.STDERR, tail: 1 })).text).toBe("err\n");
  });

  test("an unknown attempt is an error with a message", async () => {
    expect((await ask({ allocationId: "999999" })).error).toContain("no log of that attempt");
    expect((await ask({ allocationId: "../x" })).error).toContain("no log of that attempt");
  });

  test("following continues until the attempt has ended, and misses nothing", async () => {
    const a = id();
    r.server.run({ allocationId: a, entrypoint: "for i in 1 2 3 4 5; do echo $i; sleep 0.1; done" });
    await r.server.running(a);
    const log = await ask({ allocationId: a, follow: true });
    expect(log.text).toBe("1\n2\n3\n4\n5\n");
    await r.server.end(a);
  });

  test("CloseLogs ends a follower", async () => {
    const a = id();
    r.server.run({ allocationId: a, entrypoint: "echo here; sleep 1000" });
    await r.server.running(a);
    r.server.openLogs({ streamId: "close-me", allocationId: a, follow: true });
    await found(() => r.server.logs.get("close-me")?.text === "here\n");
    r.server.send({ case: "closeLogs", value: { $typeName: "lattice.v1.CloseLogs", streamId: "close-me" } });
    await found(() => r.server.logs.get("close-me")?.ended);
    r.server.stop({ allocationId: a, graceSeconds: 1 });
    await r.server.end(a);
  });

  test("the newest 64 MB of 200 MB of output are kept, with a few chunks of memory", async () => {
    const a = id();
    const bytes = 200 * 1024 * 1024;
    r.server.run({ allocationId: a, entrypoint: `head -c ${bytes} /dev/zero` });
    await r.server.end(a);
    r.server.settings.keepText = false;
    globalThis.gc?.();
    const before = process.memoryUsage().rss;
    let peak = before;
    const timer = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().rss);
    }, 20);
    // The last output is truncated a moment after the end.
    await expect.poll(async () => (await ask({ allocationId: a })).bytes).toBe(64 * 1024 * 1024);
    clearInterval(timer);
    r.server.settings.keepText = true;
    // Both ends of the stream are in this process; a buffered log would be there twice.
    expect((peak - before) / 1024 / 1024).toBeLessThan(100);
  });
});
