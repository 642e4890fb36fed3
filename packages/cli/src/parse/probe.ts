// A liveness probe on the command line: tcp:8080 or http:8080/healthz, then what differs from the usual, as in
// http:8080/healthz,period=5,failures=2. The words are short; the fields have the names of the submission.

import type { LivenessProbe } from "@lattice/sdk";
import { InvalidArgumentError } from "commander";

const SETTINGS = {
  period: "period_secs",
  delay: "initial_delay_secs",
  failures: "failure_threshold",
  timeout: "timeout_secs",
} as const satisfies Record<string, keyof LivenessProbe>;

export function parseProbe(text: string): LivenessProbe {
  const [what = "", ...settings] = text.split(",");
  const [, kind, port, path = ""] = /^(tcp|http):(\d{1,5})(\/.*)?$/.exec(what) ?? [];
  if (kind === undefined || (kind === "tcp" && path !== "")) {
    throw new InvalidArgumentError(
      "Write it as tcp:8080 or http:8080/path, with period=, delay=, failures= and timeout= behind commas.",
    );
  }
  return {
    probe_type: kind as "tcp" | "http",
    port: Number(port),
    ...(kind === "http" ? { path: path === "" ? "/" : path } : {}),
    ...Object.fromEntries(settings.map(settingOf)),
  };
}

function settingOf(text: string): readonly [string, number] {
  const [, name = "", value] = /^([a-z]+)=(\d{1,6})$/.exec(text) ?? [];
  if (!Object.hasOwn(SETTINGS, name)) {
    const known = Object.keys(SETTINGS).join(", ");
    throw new InvalidArgumentError(`"${text}" is none of its settings (${known}), which take a number.`);
  }
  return [SETTINGS[name as keyof typeof SETTINGS], Number(value)];
}
