// Parses a liveness probe: tcp:8080 or http:8080/healthz, with options such as http:8080/healthz,period=5,failures=2.

import type { LivenessProbe } from "@lattice/sdk";
import { probeFrom } from "@lattice/wire";
import { InvalidArgumentError } from "commander";

export function parseProbe(text: string): LivenessProbe {
  const probe = probeFrom(text);
  if (typeof probe === "string") throw new InvalidArgumentError(probe);
  return probe as unknown as LivenessProbe;
}
