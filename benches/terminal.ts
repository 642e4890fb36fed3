// Latencies of terminals and logs: from the call to the first prompt, from a key to its echo, and from a line written by
// a job to the same line at a follower.
import { create } from "@bufbuild/protobuf";
import { Client, credentials, Metadata } from "@grpc/grpc-js";
import { pb, serviceDefinition } from "@lattice/wire";
import type { Cluster } from "../tests/harness/cluster.ts";
import { type Bench, below, type Figure, type Progress, quantile, withoutTarget } from "./figure.ts";
import { JOB_USERS, type JobUser, withCluster } from "./with-cluster.ts";

const ATTACHES = 15;
const KEYS = 300;
const LINES = 100;
const FIRST_PROMPT_MS = 150;
const ECHO_P99_MS = 20;
const TAIL_P99_MS = 100;

export const terminal: Bench = async (log) => [
  ...(await measure(JOB_USERS[0], log)),
  ...(await measure(JOB_USERS[1], log)),
];

const measure = ({ agentArgs, user, suffix }: JobUser, log: Progress): Promise<readonly Figure[]> =>
  withCluster({ nodes: 1, agentArgs }, async (cluster) => {
    const client = new Client(cluster.grpcAddress, credentials.createInsecure());
    const headers = { "x-lattice-user": user };
    // /bin/sh reads no start-up files, which would be part of the measurement.
    const id = await cluster.submit({ entrypoint: "sleep 600", env: { SHELL: "/bin/sh" } }, { headers });
    await cluster.reaches(id, ["running"]);

    const prompts: number[] = [];
    for (let n = 0; n < ATTACHES; n += 1) {
      const from = performance.now();
      const shell = attach(client, { id, user, command: "" });
      await shell.shown();
      prompts.push(performance.now() - from);
      shell.close();
    }
    log(`first prompt: ${prompts.map((time) => time.toFixed(0)).join(" ")} ms`);

    const cat = attach(client, { id, user, command: "echo ready; exec cat" });
    await cat.shown();
    const echoes: number[] = [];
    for (let n = 0; n < KEYS; n += 1) {
      const from = performance.now();
      cat.type("x");
      await cat.shown();
      echoes.push(performance.now() - from);
    }
    cat.close();
    await cluster.cli(["cancel", id]);

    client.close();
    // The user of the job does not matter to followers.
    if (suffix !== "") {
      return [
        withoutTarget(`attach_first_prompt${suffix}_median`, quantile(prompts, 0.5), "ms"),
        withoutTarget(`keystroke_echo${suffix}_p99`, quantile(echoes, 0.99), "ms"),
      ];
    }
    const tails = await tailLatencies(cluster);
    return [
      below("attach_first_prompt_median", quantile(prompts, 0.5), "ms", FIRST_PROMPT_MS),
      withoutTarget("attach_first_prompt_min", Math.min(...prompts), "ms"),
      below("keystroke_echo_p99", quantile(echoes, 0.99), "ms", ECHO_P99_MS),
      withoutTarget("keystroke_echo_median", quantile(echoes, 0.5), "ms"),
      below("log_tail_p99", quantile(tails, 0.99), "ms", TAIL_P99_MS),
      withoutTarget("log_tail_median", quantile(tails, 0.5), "ms"),
    ];
  });

interface Attached {
  type(text: string): void;
  /** Resolves with the next output of the terminal. */
  shown(): Promise<void>;
  close(): void;
}

interface Wanted {
  readonly id: string;
  readonly user: string;
  readonly command: string;
}

function attach(client: Client, { id, user, command }: Wanted): Attached {
  const method = serviceDefinition(pb.SessionService).Attach;
  if (method === undefined) throw new Error("the contract has no Attach");
  const metadata = new Metadata();
  metadata.set("x-lattice-user", user);
  const call = client.makeBidiStreamRequest(method.path, method.requestSerialize, method.responseDeserialize, metadata);
  const send = (message: pb.AttachRequest["message"]) => call.write(create(pb.AttachRequestSchema, { message }));
  const answers = call[Symbol.asyncIterator]() as AsyncIterator<pb.AttachResponse>;
  call.on("error", () => {});
  send({ case: "start", value: create(pb.AttachStartSchema, { id, command, size: { rows: 24, cols: 80 } }) });
  return {
    type: (text) => void send({ case: "stdin", value: Buffer.from(text) }),
    async shown() {
      for (let next = await answers.next(); next.done !== true; next = await answers.next())
        if (next.value.message.case === "stdout") return;
    },
    close: () => call.end(),
  };
}

/** Each line contains the time at which it was written. */
async function tailLatencies(cluster: Cluster): Promise<number[]> {
  const program = `let n=0;const t=setInterval(()=>{console.log(Date.now());if(++n>${LINES})clearInterval(t)},30)`;
  const id = await cluster.submit({ command: [process.execPath, "-e", program] });
  const answer = await fetch(`${cluster.apiUrl}/api/v1/allocations/${id}/logs/stream?stream=stdout`);
  const late: number[] = [];
  let rest = "";
  for await (const bytes of answer.body ?? []) {
    const now = Date.now();
    const lines = (rest + Buffer.from(bytes).toString()).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) late.push(now - Number(line));
  }
  // The first lines were written before the follower connected.
  return late.slice(Math.floor(LINES / 10));
}
