// Checks a service: the ports it exposes and its liveness probe.

import { isCount, isText, type Problems } from "../checks.ts";
import * as limit from "./limits.ts";
import { type AllocationSpec, type ExposedPort, type LivenessProbe, PORT_PROTOCOLS } from "./spec.ts";

export function checkService(
  problems: Problems,
  { expose, probe, networkDomain }: Pick<AllocationSpec, "expose" | "probe" | "networkDomain">,
): void {
  if (networkDomain !== undefined) {
    const good =
      /^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$/i.test(networkDomain) && !/^(alloc|sensitive)-/.test(networkDomain);
    const rule =
      "must be 1 to 63 letters, digits, dots, dashes or underscores, and not begin with alloc- or sensitive-";
    problems.unless(good, "allocation.connectivity.network_domain", rule);
  }
  if (expose !== undefined) checkPorts(problems, expose);
  if (probe !== undefined) checkProbe(problems, probe);
}

const PORT_RANGE = `must be a whole number from 1 to ${limit.MAX_PORT}`;

function checkPorts(problems: Problems, ports: readonly ExposedPort[]): void {
  const field = "allocation.connectivity.expose";
  problems.unless(ports.length <= limit.MAX_EXPOSED_PORTS, field, `must not have more than ${limit.MAX_EXPOSED_PORTS}`);
  ports.slice(0, limit.MAX_EXPOSED_PORTS).forEach(({ name, port, protocol }, i) => {
    problems.unless(isCount(port, 1, limit.MAX_PORT), `${field}[${i}].port`, PORT_RANGE);
    const named = isText(name, limit.MAX_NAME_LENGTH);
    problems.unless(named, `${field}[${i}].name`, `must have at most ${limit.MAX_NAME_LENGTH} characters`);
    const twice = ports.findIndex((other) => other.port === port) !== i;
    problems.unless(!twice, `${field}[${i}].port`, "is exposed twice");
    const known = protocol === undefined || PORT_PROTOCOLS.includes(protocol);
    problems.unless(known, `${field}[${i}].protocol`, `must be one of ${PORT_PROTOCOLS.join(", ")}`);
  });
}

function checkProbe(problems: Problems, probe: LivenessProbe): void {
  const field = "allocation.liveness_probe";
  problems.unless(isCount(probe.port, 1, limit.MAX_PORT), `${field}.port`, PORT_RANGE);
  const path = probe.path.startsWith("/") && /^[\x21-\x7e]*$/.test(probe.path);
  problems.unless(probe.kind === "tcp" || path, `${field}.path`, "must begin with / and hold no spaces");
  problems.text(`${field}.path`, probe.path, limit.MAX_PROBE_PATH_LENGTH);
  const span = (name: string, value: number, least: number): void =>
    problems.unless(isCount(value, least, limit.MAX_PROBE_SPAN_MS), `${field}.${name}`, "must be at most a day");
  span("period_secs", probe.period, 1);
  span("initial_delay_secs", probe.initialDelay, 0);
  span("timeout_secs", probe.timeout, 1);
  const most = limit.MAX_PROBE_FAILURES;
  const threshold = isCount(probe.failureThreshold, 1, most);
  problems.unless(threshold, `${field}.failure_threshold`, `must be a whole number from 1 to ${most}`);
}
