// `npm start` with everything installed and built, from spawn to a running cluster.
import { spawn } from "node:child_process";
import { cleanEnvironment, root } from "../tests/harness/program.ts";
import { type Bench, below, quantile, withoutTarget } from "./figure.ts";

const RUNS = 5;
const UP_SECONDS = 5;

export const secondStart: Bench = async (log) => {
  const times: number[] = [];
  for (let n = 0; n < RUNS; n += 1) times.push(await secondsUntilUp());
  log(`${times.map((time) => time.toFixed(2)).join(" ")} s`);
  return [withoutTarget("up_median", quantile(times, 0.5), "s"), below("up_max", Math.max(...times), "s", UP_SECONDS)];
};

async function secondsUntilUp(): Promise<number> {
  const began = performance.now();
  const child = spawn("npm", ["start", "--", "--exit", "--port", "0", "--grpc-port", "0"], {
    cwd: root,
    env: cleanEnvironment({}),
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  let seconds: number | null = null;
  child.stdout.on("data", (data: Buffer) => {
    text += data.toString();
    if (text.includes("Lattice is up")) seconds ??= (performance.now() - began) / 1_000;
  });
  const status = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  if (status !== 0 || seconds === null) throw new Error(`npm start exited with status ${status}: ${text}`);
  return seconds;
}
