// The settings by which controllers judge: nodes that fail or drift, and checkpoints that pay. All of them can be changed while
// servers run: a controller reads them whenever it looks.

import { type CheckpointConfig, completeCheckpoint } from "./checkpoint.ts";
import { completeFaults, type FaultsConfig } from "./faults.ts";
import { type KnownSetting, type SettingValue, span } from "./setting.ts";

const fault = (key: string, field: keyof FaultsConfig, read: (faults: FaultsConfig) => SettingValue): KnownSetting => ({
  key: `faults.${key}`,
  read: ({ faults }) => read(faults),
  write: (config, file) => ({ ...config, faults: { ...config.faults, [field]: completeFaults(file.faults)[field] } }),
});

export const FAULT_SETTINGS: readonly KnownSetting[] = [
  fault("failures_to_set_aside", "failures", ({ failures }) => failures),
  fault("quick_failure", "quick", ({ quick }) => span(quick)),
  fault("prologue_retries", "prologueRetries", ({ prologueRetries }) => prologueRetries),
  fault("set_aside_max_percent", "mostPercent", ({ mostPercent }) => mostPercent),
  fault("probation", "probation", ({ probation }) => span(probation)),
  fault("drift_remediation_timeout", "driftTimeout", ({ driftTimeout }) => span(driftTimeout)),
  fault("sensitive_drift_remediation_timeout", "sensitiveDriftTimeout", (faults) => span(faults.sensitiveDriftTimeout)),
];

const GB = 1e9;
const HOUR = 3_600;

const checkpoint = (
  key: string,
  read: (checkpoint: CheckpointConfig) => SettingValue,
  change: (now: CheckpointConfig, asked: CheckpointConfig) => Partial<CheckpointConfig>,
): KnownSetting => ({
  key: `checkpoint.${key}`,
  read: (config) => read(config.checkpoint),
  write: (config, file) => ({
    ...config,
    checkpoint: { ...config.checkpoint, ...change(config.checkpoint, completeCheckpoint(file.checkpoint)) },
  }),
});

const rate = (
  key: string,
  field: keyof CheckpointConfig["rates"],
  read: (rates: CheckpointConfig["rates"]) => SettingValue,
): KnownSetting =>
  checkpoint(
    key,
    ({ rates }) => read(rates),
    (now, asked) => ({ rates: { ...now.rates, [field]: asked.rates[field] } }),
  );

export const CHECKPOINT_SETTINGS: readonly KnownSetting[] = [
  checkpoint(
    "evaluation_interval",
    ({ interval }) => span(interval),
    (_, { interval }) => ({ interval }),
  ),
  checkpoint(
    "storage_gb_per_second",
    ({ bytesPerSecond }) => bytesPerSecond / GB,
    (_, { bytesPerSecond }) => ({ bytesPerSecond }),
  ),
  checkpoint(
    "gpu_memory_gb",
    ({ gpuMemoryBytes }) => gpuMemoryBytes / GB,
    (_, { gpuMemoryBytes }) => ({ gpuMemoryBytes }),
  ),
  checkpoint(
    "keep",
    ({ keep }) => keep,
    (_, { keep }) => ({ keep }),
  ),
  checkpoint(
    "retention",
    ({ retention }) => span(retention),
    (_, { retention }) => ({ retention }),
  ),
  rate("node_mtbf_hours", "nodeMtbfSeconds", ({ nodeMtbfSeconds }) => nodeMtbfSeconds / HOUR),
  rate("storage_seconds_per_gb", "storageSecondsPerGb", ({ storageSecondsPerGb }) => storageSecondsPerGb),
  rate("quiet_interval", "quietSeconds", ({ quietSeconds }) => `${quietSeconds}s`),
];
