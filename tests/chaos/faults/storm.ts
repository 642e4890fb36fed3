// Many small faults in quick succession: servers, members and agents are killed at random and started again at once.
import { sleep } from "../../harness/eventually.ts";
import { kill } from "../../harness/processes.ts";
import { type Fault, type FaultContext, noComplaints, nothing } from "./fault.ts";

const STRIKES = 12;

export const storm: Fault = {
  name: "storm",
  expectation: "a dozen kills in a dozen seconds cost time and nothing else",
  async inject(context) {
    const struck: string[] = [];
    for (let n = 0; n < STRIKES; n += 1) {
      struck.push(await killOne(context));
      await sleep(context.random.between(300, 1_700));
    }
    return { what: struck.join(" "), holdMs: 500, heal: nothing, verify: noComplaints };
  },
};

async function killOne({ cluster, random }: FaultContext): Promise<string> {
  const what = random.pick(["server", "member", "agent", "agent"]);
  if (what === "agent") {
    const node = random.pick(cluster.nodes);
    await node.kill();
    node.start();
    return node.name;
  }
  const server = random.pick(cluster.servers);
  if (what === "server") {
    await server.kill();
    server.start();
    return `server-${server.n}`;
  }
  const pid = server.memberPid();
  if (pid > 0) kill(pid, "SIGKILL");
  return `member-${server.n}`;
}
