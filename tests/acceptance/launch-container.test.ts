// Ranks in containers on two nodes: PMI over the inherited socket, and PMIx through its server, which stays outside
// the image and meets them in the job's scratch folder.
import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { compileMpi } from "../harness/mpi.ts";
import { type Registry, startRegistry } from "../harness/registry.ts";
import { useCluster } from "../harness/use-cluster.ts";

const folder = mkdtempSync(join(tmpdir(), "lattice-container-launch-"));
const registry: Registry = await startRegistry();
const cluster = useCluster({ nodes: 2, agentArgs: ["--insecure-registry", registry.address, "--cache-min-free", "0"] });
const PMIX = `/usr/lib/${execFileSync("gcc", ["-print-multiarch"], { encoding: "utf8" }).trim()}/pmix2`;
let pmix = "";
let mpi = "";
let id = "";

beforeAll(async () => {
  // Container users are not root and must not reach what the agents build.
  chmodSync(cluster.dir, 0o711);
  pmix = compilePmix();
  mpi = compileMpi(folder, "hello");
  const plugins = readdirSync(join(PMIX, "lib")).filter((name) => name.startsWith("pmix_mca_"));
  const image = registry.push("ranks", [pmix, mpi, ...plugins.map((name) => join(PMIX, "lib", name))]);
  id = await cluster.submit({ nodes: 2, walltime: "1h", image, command: ["/bin/sleep", "3000"] });
  await cluster.reaches(id, ["running"]);
});

afterAll(async () => {
  await registry.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 9 });
});

const launch = (...words: string[]) =>
  cluster.cli(["launch", `--alloc=${id}`, "-n", "4", "--tasks-per-node=2", ...words]);

test("PMIx ranks in containers exchange data and publish names, and the PMIx server leaves nothing behind", async () => {
  const { code, stdout, stderr } = await launch("--pmi=pmix", pmix);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout.trim().split("\n").sort()).toEqual([
    "0 of 4: card of 1",
    "1 of 4: card of 2",
    "2 of 4: card of 3",
    "3 of 4: card of 0",
    "3 of 4: found ocean",
  ]);
  const scratch = await launch(
    "-n",
    "2",
    "--tasks-per-node=1",
    "sh",
    "-c",
    'cd "$LATTICE_SCRATCH" && echo $(echo .lat*)',
  );
  expect(scratch.stdout).toBe(".lat*\n.lat*\n");
});

test("PMI works in a container through the inherited socket", async () => {
  const speak =
    'printf "cmd=init pmi_version=1 pmi_subversion=1\\ncmd=get_my_kvsname\\ncmd=finalize\\n" >&3; read a <&3; read b <&3';
  const { code, stdout } = await launch("sh", "-c", `${speak}; read c <&3; echo "$LATTICE_RANK $a"`);
  expect(code).toBe(0);
  expect(stdout.trim().split("\n").sort()).toEqual(
    [0, 1, 2, 3].map((rank) => `${rank} cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1`),
  );
});

test("MPICH ranks in containers communicate without warnings", async () => {
  const { code, stdout, stderr } = await launch(mpi);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout.trim().split("\n").sort()).toEqual([0, 1, 2, 3].map((rank) => `rank ${rank} of 4`));
  const loaded = await launch("sh", "-c", "echo $LD_PRELOAD");
  expect(loaded.stdout).toMatch(/mpi-finalize-\w+\.so$/m);
});

function compilePmix(): string {
  const path = join(folder, "exchange");
  writeFileSync(
    `${path}.c`,
    `#include <pmix.h>
#include <stdio.h>
#include <string.h>
#define MUST(call) do { pmix_status_t s = (call); if (s != PMIX_SUCCESS) { fprintf(stderr, #call ": %s\\n", PMIx_Error_string(s)); return 1; } } while (0)
int main(void) {
  pmix_proc_t me, all, next;
  pmix_value_t value, *got;
  pmix_info_t info;
  pmix_pdata_t found;
  bool yes = true;
  char card[64];
  MUST(PMIx_Init(&me, NULL, 0));
  PMIX_LOAD_PROCID(&all, me.nspace, PMIX_RANK_WILDCARD);
  MUST(PMIx_Get(&all, PMIX_JOB_SIZE, NULL, 0, &got));
  unsigned size = got->data.uint32;
  snprintf(card, sizeof card, "card of %u", me.rank);
  PMIX_VALUE_LOAD(&value, card, PMIX_STRING);
  MUST(PMIx_Put(PMIX_GLOBAL, "card", &value));
  MUST(PMIx_Commit());
  if (me.rank == 0) {
    PMIX_INFO_LOAD(&info, "ocean", "ocean", PMIX_STRING);
    MUST(PMIx_Publish(&info, 1));
  }
  PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
  MUST(PMIx_Fence(&all, 1, &info, 1));
  PMIX_LOAD_PROCID(&next, me.nspace, (me.rank + 1) % size);
  MUST(PMIx_Get(&next, "card", NULL, 0, &got));
  printf("%u of %u: %s\\n", me.rank, size, got->data.string);
  if (me.rank == size - 1) {
    PMIX_PDATA_CONSTRUCT(&found);
    PMIX_LOAD_KEY(found.key, "ocean");
    MUST(PMIx_Lookup(&found, 1, NULL, 0));
    printf("%u of %u: found %s\\n", me.rank, size, found.value.data.string);
  }
  MUST(PMIx_Fence(&all, 1, NULL, 0));
  MUST(PMIx_Finalize(NULL, 0));
  return 0;
}
`,
  );
  const headers = ["-I", join(PMIX, "include"), "-I", join(PMIX, "include", "pmix")];
  execFileSync("cc", [
    "-o",
    path,
    `${path}.c`,
    ...headers,
    "-L",
    join(PMIX, "lib"),
    `-Wl,-rpath,${join(PMIX, "lib")}`,
    "-lpmix",
  ]);
  return path;
}
