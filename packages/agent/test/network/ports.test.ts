// Ports of the node that a service may have (finding 19 of the review).
import { expect, test } from "vitest";
import { whyNotExposed } from "../../src/network/gateway/ports.ts";

test("a port that only root may bind is refused with the reason", () => {
  expect(whyNotExposed([8080, 389], 1024)).toBe(
    "port 389 cannot be exposed: ports below 1024 of a node are root's (net.ipv4.ip_unprivileged_port_start)",
  );
  expect(whyNotExposed([1024, 65_535], 1024)).toBeNull();
  expect(whyNotExposed([80], 80)).toBeNull();
  expect(whyNotExposed([])).toBeNull();
});
