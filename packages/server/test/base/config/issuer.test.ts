// An identity provider without TLS gives a warning at start: tokens are only as trustworthy as the provider's keys.

import { pino } from "pino";
import { expect, test } from "vitest";
import { issuerWarning } from "../../../src/base/config/auth.ts";
import { loadConfig } from "../../../src/base/config/index.ts";
import { startTestApi } from "../../api/clients.ts";

const api = (issuer: string) => ({ oidc_issuer: issuer, oidc_client_id: "lattice" });

test.each([
  ["https://id.example.com/realms/hpc", false],
  ["http://id.example.com/realms/hpc", true],
  ["http://10.0.0.7:8080", true],
  ["http://[2001:db8::1]:8080", true],
  ["http://127.0.0.1.example.com", true],
  ["http://localhost:8080", false],
  ["http://127.0.0.1:8080", false],
  ["http://[::1]:8080", false],
])("%s: %s", (issuer, warned) => {
  expect(issuerWarning(loadConfig(null, { api: api(issuer) }).api.auth) !== null).toBe(warned);
});

test("without a provider there is no warning", () => {
  expect(issuerWarning({ kind: "none" })).toBeNull();
});

test("the warning is logged at start, and the server starts", async () => {
  const lines: string[] = [];
  const logger = pino({ level: "warn" }, { write: (line) => void lines.push(line) });
  const running = await startTestApi({ api: api("http://id.example.com") }, logger);
  await running.close();
  expect(lines.filter((line) => line.includes("api.oidc_issuer is http://id.example.com, without TLS"))).toHaveLength(
    1,
  );
});
