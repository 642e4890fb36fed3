// Starts the test fabric manager as a process, for unit tests and whole clusters.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

export interface FakeManager {
  readonly url: string;
  faults(faults: readonly Fault[]): Promise<void>;
  seen(): Promise<{
    readonly services: readonly { id: string; vni: number; nodes: string[] }[];
    readonly calls: string[];
  }>;
  /** Its networks, and the calls it received. */
  networks(): Promise<{ readonly vnis: readonly FakeNetwork[]; readonly calls: string[] }>;
  /** Adds a network without Lattice's knowledge. */
  plant(network: FakeNetwork): Promise<void>;
  /** Erases its memory. */
  forget(): Promise<void>;
  close(): void;
}

export interface FakeNetwork {
  readonly vni: number;
  readonly owner: string;
  readonly nodes: readonly string[];
  readonly name?: string;
  readonly tenant?: string;
  readonly sensitive?: boolean;
}

export interface Fault {
  readonly call: "POST" | "GET auth" | "DELETE" | "PUT vni" | "DELETE vni" | "GET vni";
  readonly times: number;
  readonly kind?: "cut" | "silent";
  readonly status?: number;
  readonly body?: object;
}

export async function startFakeManager(token?: string): Promise<FakeManager> {
  const program = fileURLToPath(new URL("fake-fabric.mjs", import.meta.url));
  const env = { PATH: process.env.PATH ?? "", ...(token === undefined ? {} : { TOKEN: token }) };
  const child = spawn(process.execPath, [program], { stdio: ["pipe", "pipe", "inherit"], env });
  const port = await new Promise<string>((resolve) =>
    child.stdout.once("data", (text) => resolve(String(text).trim())),
  );
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    async faults(faults) {
      await fetch(`${url}/faults`, { method: "POST", body: JSON.stringify(faults) });
    },
    seen: async () => (await fetch(`${url}/services`)).json() as ReturnType<FakeManager["seen"]>,
    networks: async () => (await fetch(`${url}/vnis`)).json() as ReturnType<FakeManager["networks"]>,
    async plant(network) {
      await fetch(`${url}/vnis`, { method: "POST", body: JSON.stringify([[network.vni, network]]) });
    },
    async forget() {
      await fetch(`${url}/vnis`, { method: "DELETE" });
    },
    close: () => child.kill("SIGKILL"),
  };
}

/** The default paths. */
export const FABRIC_PATHS = { servicesPath: "/fabric/cxi/services", domainsPath: "/fabric/vnis" } as const;
