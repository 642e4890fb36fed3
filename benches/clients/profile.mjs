// Loaded before a program (`--import`): at SIGUSR2 it starts a CPU profile of each thread, at the next SIGUSR2 it writes them
// to the folder named by LATTICE_BENCH_PROFILE_DIR.
import { writeFileSync } from "node:fs";
import { Session } from "node:inspector";
import { join } from "node:path";
import { BroadcastChannel, isMainThread, threadId } from "node:worker_threads";

const folder = process.env.LATTICE_BENCH_PROFILE_DIR;
const INTERVAL_US = 500;

if (folder !== undefined) {
  const channel = new BroadcastChannel("lattice-bench-profile");
  let session = null;
  const turn = () => {
    if (session === null) {
      session = new Session();
      session.connect();
      session.post("Profiler.enable");
      session.post("Profiler.setSamplingInterval", { interval: INTERVAL_US });
      session.post("Profiler.start");
      return;
    }
    session.post("Profiler.stop", (_error, { profile }) =>
      writeFileSync(join(folder, isMainThread ? "main.json" : `thread-${threadId}.json`), JSON.stringify(profile)),
    );
  };
  const turnAll = () => {
    channel.postMessage("turn");
    turn();
  };
  if (isMainThread) process.on("SIGUSR2", turnAll);
  else channel.onmessage = turn;
  channel.unref();
}
