// The faults section: when a node is set aside for what happens on it, and for how long.

import {
  type Duration,
  FAULTS_TO_SET_ASIDE,
  MAX_FAULTS,
  MAX_PROLOGUE_RETRIES,
  MOST_QUICK_FAILURE,
  MOST_SET_ASIDE,
  seconds,
} from "@lattice/core";
import type { z } from "zod";
import { count, section, span } from "./fields.ts";

export interface FaultsConfig {
  /** Failures in a row that speak against a node. */
  readonly failures: number;
  /** Work that fails so soon speaks against its node, whatever it was. */
  readonly quick: Duration;
  /** How often work is tried elsewhere whose node could not be made ready for it. */
  readonly prologueRetries: number;
  /** Of all nodes, in percent, that may be set aside. */
  readonly mostPercent: number;
  /** Before a node that was set aside is tried again. */
  readonly probation: Duration;
  /** For the infrastructure to set a drifted node right. */
  readonly driftTimeout: Duration;
  /** The same for nodes of sensitive vClusters. */
  readonly sensitiveDriftTimeout: Duration;
}

const DAY_S = 86_400;
const timeout = (preset: string) => span({ least: seconds(1), most: seconds(365 * DAY_S), preset });

export const faultsSection = section({
  failures_to_set_aside: count(1, MAX_FAULTS).default(FAULTS_TO_SET_ASIDE),
  quick_failure: span({ least: seconds(0), most: MOST_QUICK_FAILURE, preset: "10s" }),
  prologue_retries: count(0, 100).default(MAX_PROLOGUE_RETRIES),
  set_aside_max_percent: count(0, 100).default(MOST_SET_ASIDE),
  probation: span({ least: seconds(1), most: seconds(30 * DAY_S), preset: "10m" }),
  drift_remediation_timeout: timeout("24h"),
  sensitive_drift_remediation_timeout: timeout("4h"),
});

export const completeFaults = (file: z.output<typeof faultsSection>): FaultsConfig => ({
  failures: file.failures_to_set_aside,
  quick: file.quick_failure,
  prologueRetries: file.prologue_retries,
  mostPercent: file.set_aside_max_percent,
  probation: file.probation,
  driftTimeout: file.drift_remediation_timeout,
  sensitiveDriftTimeout: file.sensitive_drift_remediation_timeout,
});
