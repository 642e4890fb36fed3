// A child process that appends until it is killed, in batches of changing size, and prints each
// acknowledged index. It takes snapshots and drops old segments on the way.

import { logIndex } from "@lattice/core";
import { openEmbeddedLog } from "../../src/log/embedded/open.ts";
import { entries, lead } from "./entries.ts";

const dir = process.argv[2] ?? "";
const log = await openEmbeddedLog({ dir, segmentBytes: 16 * 1024 });
const leader = await lead(log);
let next = log.status().lastIndex + 1;
process.stdout.write(`open ${next - 1}\n`);
for (let n = 0; ; n += 1) {
  const texts = Array.from({ length: 1 + (n % 7) }, (_, k) => `entry ${next + k} ${"x".repeat((n * 37) % 900)}`);
  await log.append(leader, entries(leader.term, next, ...texts));
  next += texts.length;
  process.stdout.write(`${next - 1}\n`);
  if (n % 40 === 39) {
    await log.saveSnapshot({ index: logIndex(next - 1), term: leader.term }, [`at ${next - 1}`]);
    await log.truncate(logIndex(next - 1));
  }
}
