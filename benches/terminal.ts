// Terminals and tails as a person feels them: from the call to the first prompt, from a key to its echo,
// and from a line written by a job to the same line at a follower.
import { createClient } from "@lattice/sdk";
import { type Bench, below, plain, quantile } from "./figure.ts";
import { withCluster } from "./with-cluster.ts";

const ATTACHES = 15;
const KEYS = 300;
const LINES = 100;
const FIRST_PROMPT_MS = 150;
const ECHO_P99_MS = 20;
const TAIL_P99_MS = 100;

export const terminal: Bench = (say) =>
  withCluster({ nodes: 1 }, async (cluster) => {
    const client = createClient({ url: cluster.apiUrl, user: "root" });
    const headers = { "x-lattice-user": "root" };
    // A shell that reads no files of its own: what those do is not ours to measure.
    const id = await cluster.submit({ entrypoint: "sleep 600", env: { SHELL: "/bin/sh" } }, { headers });
    await cluster.reaches(id, ["running"]);

    const prompts: number[] = [];
    for (let n = 0; n < ATTACHES; n += 1) {
      const from = performance.now();
      const shell = await client.attach(id, { size: { rows: 24, cols: 80 } });
      const output = shell.output[Symbol.asyncIterator]();
      await output.next();
      prompts.push(performance.now() - from);
      shell.close();
    }
    say(`first prompt: ${prompts.map((time) => time.toFixed(0)).join(" ")} ms`);

    const cat = await client.attach(id, { command: "cat", size: { rows: 24, cols: 80 } });
    const shown = cat.output[Symbol.asyncIterator]();
    const echoes: number[] = [];
    for (let n = 0; n < KEYS; n += 1) {
      const from = performance.now();
      await cat.write(Buffer.from("x"));
      await shown.next();
      echoes.push(performance.now() - from);
    }
    cat.close();
    await cluster.cli(["cancel", id]);

    const tails = await tailLatencies(cluster, client);
    return [
      below("attach_first_prompt_median", quantile(prompts, 0.5), "ms", FIRST_PROMPT_MS),
      plain("attach_first_prompt_min", Math.min(...prompts), "ms"),
      below("keystroke_echo_p99", quantile(echoes, 0.99), "ms", ECHO_P99_MS),
      plain("keystroke_echo_median", quantile(echoes, 0.5), "ms"),
      below("log_tail_p99", quantile(tails, 0.99), "ms", TAIL_P99_MS),
      plain("log_tail_median", quantile(tails, 0.5), "ms"),
    ];
  });

/** Each line carries the time at which it was written. */
async function tailLatencies(
  cluster: Parameters<Parameters<typeof withCluster>[1]>[0],
  client: ReturnType<typeof createClient>,
): Promise<number[]> {
  const program = `let n=0;const t=setInterval(()=>{console.log(Date.now());if(++n>${LINES})clearInterval(t)},30)`;
  const id = await cluster.submit({ command: [process.execPath, "-e", program] });
  const late: number[] = [];
  let rest = "";
  for await (const bytes of client.streamLogs(id, { stream: "stdout" })) {
    const now = Date.now();
    const lines = (rest + Buffer.from(bytes).toString()).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) late.push(now - Number(line));
  }
  // The first lines were written before anybody followed.
  return late.slice(Math.floor(LINES / 10));
}
