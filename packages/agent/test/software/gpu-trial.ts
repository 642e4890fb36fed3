// Tries on a machine with a real NVIDIA GPU what a container is given of it, without an engine: an empty root file system
// with those devices and files of the driver bound into it and nothing else of the machine but the loader's libraries. What
// is asked inside is NVIDIA's own program, and CUDA itself, which takes and writes memory of the GPU.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { quoted } from "../../src/base/shell-text.ts";
import { askNvml } from "../../src/discovery/gpus/ask-nvml.ts";
import { containerEnvironment } from "../../src/runtime/container/environment.ts";
import { deviceHost } from "../../src/runtime/devices/host.ts";
import { type Passed, passedDevices } from "../../src/runtime/devices/passed.ts";

export interface Trial {
  readonly given: Passed;
  /** Output of `nvidia-smi -L` inside. */
  readonly listed: string;
  /** Output of CUDA inside. */
  readonly cuda: string;
  /** The same where the share has no GPU. */
  readonly without: string;
}

export async function tryGpus(): Promise<Trial> {
  const folder = mkdtempSync(join(tmpdir(), "lattice-gpu-trial-"));
  try {
    const cuda = join(folder, "cuda");
    writeFileSync(`${cuda}.c`, CUDA);
    execFileSync("cc", ["-o", cuda, `${cuda}.c`, "-ldl"]);
    const units = (await askNvml(""))?.units ?? [];
    // As on a node without a CDI specification.
    const host = { ...deviceHost("tcp"), cdi: () => [] };
    const inside = { gpuCount: units.length, units };
    const given = await passedDevices(host, inside, { gpus: [0], cpus: null, memory: null });
    const none = await passedDevices(host, inside, { gpus: [], cpus: null, memory: null });
    return {
      given,
      listed: inRoom(folder, given, "nvidia-smi -L"),
      cuda: inRoom(folder, given, cuda),
      without: inRoom(folder, none, cuda),
    };
  } finally {
    rmSync(folder, { recursive: true, maxRetries: 9 });
  }
}

function inRoom(folder: string, { files, driver }: Passed, line: string): string {
  const root = join(folder, "root");
  const programs = [...driver.map(({ from }) => from), "/bin/sh", join(folder, "cuda")];
  const libraries = [...new Set(programs.flatMap(librariesOf))];
  const binds = [
    ...[...files, ...libraries, "/bin/sh", join(folder, "cuda")].map((path) => ({ from: path, to: path })),
    ...driver,
  ];
  const environment = { PATH: "/bin" };
  const inside = containerEnvironment({
    environment,
    chosen: {},
    image: {},
    driver: driver.length > 0,
    programs: false,
  });
  const script = [
    "set -e",
    `mkdir -p ${quoted(root)}; mount -t tmpfs tmpfs ${quoted(root)}`,
    `mkdir -p ${quoted(join(root, "proc"))}; mount -t proc proc ${quoted(join(root, "proc"))}`,
    ...binds.map(({ from, to }) => {
      const at = quoted(join(root, to));
      return `mkdir -p "$(dirname ${at})"; touch ${at}; mount --bind ${quoted(from)} ${at}`;
    }),
    `exec env -i ${Object.entries(inside)
      .map(([name, value]) => quoted(`${name}=${value}`))
      .join(" ")} "$(command -v chroot)" ${quoted(root)} /bin/sh -c ${quoted(`${line} 2>&1; true`)}`,
  ].join("\n");
  return execFileSync("unshare", ["-m", "sh", "-c", script], { encoding: "utf8" });
}

function librariesOf(file: string): readonly string[] {
  try {
    const output = execFileSync("ldd", [file], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    return output.split("\n").flatMap((each) => /(\/\S+) \(0x/.exec(each)?.[1] ?? []);
  } catch {
    return [];
  }
}

const CUDA = `#include <dlfcn.h>
#include <stdio.h>
#define CALL(name, ...) do { int (*f)() = (int (*)())dlsym(cuda, name); int code = f ? f(__VA_ARGS__) : -1; \\
  if (code != 0) { printf("%s: %d\\n", name, code); return 1; } } while (0)
int main(void) {
  void *cuda = dlopen("libcuda.so.1", RTLD_NOW), *context = 0;
  unsigned long long at = 0, word = 0;
  int count = 0, device = 0;
  if (!cuda) { puts("no libcuda"); return 1; }
  CALL("cuInit", 0);
  CALL("cuDeviceGetCount", &count);
  CALL("cuDeviceGet", &device, 0);
  CALL("cuCtxCreate_v2", &context, 0, device);
  CALL("cuMemAlloc_v2", &at, (size_t)1 << 20);
  CALL("cuMemsetD8_v2", at, 7, (size_t)1 << 20);
  CALL("cuMemcpyDtoH_v2", &word, at, sizeof word);
  printf("%d GPU, memory says %llx\\n", count, word);
  return 0;
}
`;
