// Starts the object store of the tests as a process and injects faults into it.
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";

export type Fault = "error" | "cut" | "refuse" | "slow" | "half";

export interface ObjectStore {
  readonly url: string;
  /** Environment variables for agents and servers. */
  readonly environment: Readonly<Record<string, string>>;
  /** Makes the next requests fail in this way. */
  fail(next: number, how: Fault): Promise<void>;
  /** Returns the sorted keys, prefixed with their bucket. */
  objects(): Promise<readonly string[]>;
  /** Returns null for an unknown object. */
  object(key: string): Promise<string | null>;
  /** Returns the number of requests by method. */
  requests(): Promise<Readonly<Record<string, number>>>;
}

const PROGRAM = fileURLToPath(new URL("s3-server.ts", import.meta.url));
const [KEY, SECRET] = ["test-key", "test/secret+key"];

/** Stops the store after the last test of the file. */
export async function useObjectStore(bucket: string): Promise<ObjectStore> {
  const child = spawn(process.execPath, ["--import", "tsx", PROGRAM, KEY, SECRET, bucket], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  afterAll(() => void child.kill());
  const url = await addressOf(child);
  const ask = async (path: string, body?: object) => {
    const answer = await fetch(
      `${url}${path}`,
      body === undefined ? {} : { method: "POST", body: JSON.stringify(body) },
    );
    return answer.json() as Promise<unknown>;
  };
  return {
    url,
    environment: {
      AWS_ACCESS_KEY_ID: KEY,
      AWS_SECRET_ACCESS_KEY: SECRET,
      AWS_REGION: "eu-test-1",
      AWS_ENDPOINT_URL: url,
    },
    fail: async (next, how) => void (await ask("/-/faults", { next, how })),
    objects: async () => (await ask("/-/objects")) as readonly string[],
    async object(key) {
      const answer = await fetch(`${url}/-/objects/${encodeURIComponent(key)}`);
      return answer.ok ? answer.text() : null;
    },
    requests: async () => ((await ask("/-/faults")) as { readonly counts: Record<string, number> }).counts,
  };
}

function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", () => reject(new Error("the object store did not start")));
    child.stdout?.once("data", (line: Buffer) => resolve((JSON.parse(line.toString()) as { url: string }).url));
  });
}
