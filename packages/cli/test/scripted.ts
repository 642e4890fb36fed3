// Runs the whole program in this process against a scripted server, and records requests, output and exit status. Call
// it once, at the top of a test file.

import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, vi } from "vitest";
import { runProgram } from "../src/index.ts";

/** Status and body, or a function that writes the response. */
export type Answer = readonly [number, unknown] | ((response: ServerResponse) => void);

export interface Scripted {
  answers: Record<string, Answer>;
  requests: string[];
  /** The bodies of the requests, in order. */
  bodies: string[];
  out: string;
  err: string;
  run(...argv: string[]): Promise<number>;
}

export function useScripted(): Scripted {
  let url = "";
  const rig: Scripted = {
    answers: {},
    requests: [],
    bodies: [],
    out: "",
    err: "",
    run: async (...argv) => {
      vi.spyOn(process, "argv", "get").mockReturnValue(["node", "lattice", ...argv]);
      return runProgram(argv);
    },
  };
  const server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const path = (request.url ?? "").split("?")[0];
      rig.bodies.push(Buffer.concat(chunks).toString());
      rig.requests.push(`${request.method} ${request.url}`);
      const whole = rig.answers[`${request.method} ${request.url}`] ?? rig.answers[`${request.method} ${path}`];
      const missing = { code: "unknown_allocation", detail: `no ${path}`, hint: "Look again.", status: 404 };
      const answer = whole ?? ([404, missing] as const);
      if (typeof answer === "function") return answer(response);
      const [status, value] = answer;
      response.writeHead(status).end(typeof value === "string" ? value : JSON.stringify(value));
    });
  });
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  beforeEach(() => {
    Object.assign(rig, { answers: {}, requests: [], bodies: [], out: "", err: "" });
    vi.stubEnv("LATTICE_API_URL", url);
    vi.stubEnv("XDG_CONFIG_HOME", "/nonexistent");
    vi.spyOn(process.stdout, "write").mockImplementation((text) => {
      rig.out += text.toString();
      return true;
    });
    vi.spyOn(process.stderr, "write").mockImplementation((text) => {
      rig.err += text.toString();
      return true;
    });
  });
  afterEach(() => {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
    process.exitCode = undefined;
  });
  return rig;
}
