// A child process that leads the log in etcd and appends until it is refused, printing each
// acknowledged index, and then why it was refused.

import { LogError, openEtcdLog } from "../../src/log/index.ts";
import { entries, lead } from "./entries.ts";

const [endpoints = "", prefix = ""] = process.argv.slice(2);
const log = await openEtcdLog({ endpoints: endpoints.split(","), prefix, name: "child" });
const leader = await lead(log, "child");
process.stdout.write(`leads ${leader.term}\n`);
leader.lost.addEventListener("abort", () => process.stdout.write("lost\n"));
try {
  for (let next = log.status().lastIndex + 1; ; next += 1) {
    await log.append(leader, entries(leader.term, next, `child ${next}`));
    process.stdout.write(`${next}\n`);
  }
} catch (cause) {
  process.stdout.write(`refused ${cause instanceof LogError ? cause.code : String(cause)}\n`);
}
await log.close();
