// The programs that tools/build.mjs builds, each from one entry into the `dist` of its package.

/**
 * `external`: modules with native parts, resolved next to the package at run time.
 * `split`: each dynamically imported command becomes its own chunk.
 * `script`: one CommonJS file, which Node loads faster than a module.
 * `native`: all C files of the entry's directory; skipped without a compiler, because a Node program replaces it.
 * `shared`: a library that is loaded into programs. `pmix`: needs libpmix with headers; skipped without them.
 * `bare`: linked without any library, for container images.
 * `optional`: skipped when the entry does not exist.
 */
export const programs = [
  { name: "lattice", entry: "packages/cli/src/main.ts", split: true },
  { name: "lattice-launch", entry: "packages/cli/src/launch-main.ts", script: true, external: ["yaml"] },
  { name: "lattice-launch-native", entry: "packages/cli/native/lattice-launch.c", native: true },
  { name: "lattice-mpi-launcher", entry: "packages/cli/src/mpi-launcher.ts" },
  { name: "lattice-slurm", entry: "packages/cli/src/slurm/main.ts", split: true },
  { name: "lattice-server", entry: "packages/server/src/main.ts", external: ["@photostructure/sqlite"] },
  {
    name: "history-worker",
    entry: "packages/server/src/state/history/worker.ts",
    external: ["@photostructure/sqlite"],
    optional: true,
  },
  { name: "planner-worker", entry: "packages/server/src/lead/planner/worker.ts" },
  { name: "lattice-agent", entry: "packages/agent/src/main.ts" },
  { name: "lattice-standby", entry: "packages/agent/native/standby/lattice-standby.c", native: true },
  { name: "lattice-enter", entry: "packages/agent/native/enter/lattice-enter.c", native: true },
  { name: "lattice-files", entry: "packages/agent/native/files/lattice-files.c", native: true },
  { name: "lattice-mounts", entry: "packages/agent/native/mounts/lattice-mounts.c", native: true },
  { name: "lattice-peer", entry: "packages/agent/native/peer/lattice-peer.c", native: true },
  { name: "lattice-inside", entry: "packages/agent/native/inside/lattice-inside.c", native: true, bare: true },
  {
    name: "lattice-mpi-finalize",
    entry: "packages/agent/native/finalize/lattice-mpi-finalize.c",
    native: true,
    shared: true,
  },
  { name: "lattice-pmix", entry: "packages/agent/native/pmix/lattice-pmix.c", native: true, pmix: true },
  { name: "lattice-shepherd", entry: "packages/agent/src/tasks/shepherd/main.ts" },
  { name: "lattice-gateway", entry: "packages/agent/src/network/gateway/main.ts" },
  { name: "lattice-gpu-probe", entry: "packages/agent/src/discovery/gpus/main.ts", external: ["koffi"] },
  { name: "lattice-gpu-clear", entry: "packages/agent/src/gpu-clear/main.ts", external: ["koffi"] },
  {
    name: "lattice-device-filter",
    entry: "packages/agent/src/host/isolation/devices/main.ts",
    external: ["koffi"],
  },
  { name: "rm-replay", entry: "packages/replay/src/main.ts" },
];
