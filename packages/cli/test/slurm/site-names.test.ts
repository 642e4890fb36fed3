// The site's names for partitions, QoS and accounts: their files, and their use by `lattice submit`, `lattice plan` and
// the Slurm commands.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test, vi } from "vitest";
import { readCompat } from "../../src/settings/compat-file.ts";
import { runSlurm } from "../../src/slurm/program.ts";
import { useScripted } from "../scripted.ts";

const rig = useScripted();
const dir = mkdtempSync(join(tmpdir(), "lattice-test-names-"));
afterAll(() => rmSync(dir, { recursive: true, force: true, maxRetries: 9 }));

const put = (name: string, text: string): string => {
  writeFileSync(join(dir, name), text);
  return join(dir, name);
};

describe("sources of names", () => {
  const home = join(dir, "home");
  mkdirSync(join(home, "lattice"), { recursive: true });
  const site = put("site.yaml", "partition_mapping: { normal: hpc, debug: short }\naccount_mapping: { g1: physics }\n");
  const env = { XDG_CONFIG_HOME: home };

  test("the site's file is optional", async () => {
    const compat = await readCompat(env, site);
    expect([compat.vclusterOf("normal"), compat.tenantOf("g1"), compat.accountOf("physics")]).toEqual([
      "hpc",
      "physics",
      "g1",
    ]);
    expect((await readCompat(env, join(dir, "absent.yaml"))).mapping).toEqual({});
  });

  test("the user's file overrides single names; LATTICE_COMPAT replaces both and must exist", async () => {
    writeFileSync(
      join(home, "lattice", "compat.yaml"),
      "partition_mapping: { normal: mine }\nqos_mapping: { gold: 7 }\n",
    );
    expect((await readCompat(env, site)).mapping).toEqual({
      partitions: { normal: "mine", debug: "short" },
      accounts: { g1: "physics" },
      qos: { gold: 7 },
    });
    const named = put("named.yaml", "account_mapping: { x: y }\n");
    expect((await readCompat({ ...env, LATTICE_COMPAT: named }, site)).mapping).toEqual({ accounts: { x: "y" } });
    await expect(readCompat({ LATTICE_COMPAT: join(dir, "gone.yaml") }, site)).rejects.toThrow("cannot be read");
  });

  test("the site may turn the export of the environment off, and a user on again", async () => {
    const off = put("off.yaml", "export: none\n");
    expect((await readCompat({}, join(dir, "absent.yaml"))).exports).toBe("ALL");
    expect((await readCompat({}, off)).exports).toBe("NONE");
    writeFileSync(join(home, "lattice", "compat.yaml"), "export: ALL\n");
    expect((await readCompat(env, off)).exports).toBe("ALL");
    await expect(readCompat({}, put("odd.yaml", "export: some\n"))).rejects.toThrow("export must be ALL or NONE");
  });

  test("an error names the damaged file", async () => {
    await expect(readCompat({}, put("bad.yaml", "accounts: {}\n"))).rejects.toThrow('unknown key "accounts"');
  });
});

describe("a script with the site's names", () => {
  const script = put("job.sh", "#!/bin/sh\n#SBATCH -p normal -q gold -A g123 -N 1\ntrue\n");
  const names =
    "partition_mapping: { normal: hpc-batch }\nqos_mapping: { gold: 9 }\naccount_mapping: { g123: physics }\n";

  beforeEach(() => {
    vi.stubEnv("LATTICE_COMPAT", put("compat.yaml", names));
    rig.answers = {
      "POST /api/v1/allocations": [200, { id: "7" }],
      "POST /api/v1/allocations:plan": [200, { starts_now: true }],
    };
  });

  test.each(["submit", "plan"])("lattice %s translates them", async (command) => {
    expect(await rig.run(command, script), rig.err).toBe(0);
    const [body] = rig.bodies.map((text) => JSON.parse(text) as unknown);
    expect(body).toMatchObject({ vcluster: "hpc-batch", preemption_class: 9, tenant: "physics" });
  });

  test("an unreadable file is an error and nothing is submitted", async () => {
    vi.stubEnv("LATTICE_COMPAT", put("compat.yaml", "partition_mapping: { normal: 7 }\n"));
    expect(await rig.run("submit", script)).not.toBe(0);
    expect(rig.err).toContain('partition "normal" must name a vCluster');
    expect(rig.requests).toEqual([]);
  });

  test("squeue filters by and shows the account's name", async () => {
    const job = (id: string, tenant: string) => ({
      id,
      user: "ada",
      state: "pending",
      spec: { tenant, vcluster: "v" },
    });
    rig.answers = { "GET /api/v1/allocations": [200, { allocations: [job("1", "physics"), job("2", "biology")] }] };
    await runSlurm("squeue", ["-h", "-A", "g123", "-o", "%i %a"]);
    expect(rig.out, rig.err).toBe("1 g123\n");
  });

  test("scancel -A filters by the tenant", async () => {
    rig.answers = { "GET /api/v1/allocations": [200, { allocations: [] }] };
    await runSlurm("scancel", ["-A", "g123"]);
    expect(rig.requests.join(), rig.err).toContain("tenant=physics");
  });
});
