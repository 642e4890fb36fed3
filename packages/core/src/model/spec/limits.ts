// The limits of a spec, each with its reason. They bound what one submission costs in the log, in memory and on a node.

/** More than any machine that exists. */
export const MAX_NODES = 1_000_000;
export const MAX_TASKS_PER_NODE = 100_000;
/** Ten years: a longer walltime is a mistake in the unit. */
export const MAX_WALLTIME_MS = 10 * 365 * 24 * 3600 * 1000;
export const MAX_PREEMPTION_CLASS = 10;
export const MAX_REQUEUE = 100;
/** The path of an output file. */
export const MAX_OUTPUT_PATH_LENGTH = 1024;

/** Shown in tables. */
export const MAX_NAME_LENGTH = 256;
export const MAX_PROJECT_LENGTH = 256;
export const MAX_INTENT_LENGTH = 1024;
export const MAX_TAGS = 64;
export const MAX_TAG_KEY_LENGTH = 128;
export const MAX_TAG_VALUE_LENGTH = 1024;

/** The kernel's limit on one argument or variable is 128 KiB. */
export const MAX_WORD_LENGTH = 128 * 1024 - 1;
export const MAX_WORDS = 4096;
export const MAX_ENTRYPOINT_LENGTH = MAX_WORD_LENGTH;
/** A script is stored in the log and in every replica. */
export const MAX_SCRIPT_LENGTH = 1024 * 1024;
export const MAX_VARIABLES = 1024;
export const MAX_VARIABLE_NAME_LENGTH = 256;
/** Words and variables together: the kernel allows 2 MiB for both. */
export const MAX_ENVIRONMENT_LENGTH = 1024 * 1024;
/** PATH_MAX, without the closing NUL. */
export const MAX_PATH_LENGTH = 4095;

export const MAX_FEATURES = 64;
export const MAX_FEATURE_LENGTH = 128;
export const MAX_GPU_TYPE_LENGTH = 128;
export const MAX_NAMED_NODES = 10_000;
/** For counts per node: GPUs, cores. */
export const MAX_PER_NODE = 1_000_000;

/** A registry's name, a path and a digest fit well within this. */
export const MAX_IMAGE_LENGTH = 512;
export const MAX_UENVS = 8;
export const MAX_VIEWS = 16;
export const MAX_MOUNTS = 64;
export const MAX_SOURCE_LENGTH = MAX_PATH_LENGTH;
/** Beyond what a node has, and exact as a number. */
export const MAX_SCRATCH_BYTES = 1e15;
/** Allowed mount targets: never over paths that the node needs. */
export const MOUNT_ROOTS: readonly string[] = [
  "/data",
  "/datasets",
  "/home",
  "/input",
  "/mnt",
  "/models",
  "/opt",
  "/output",
  "/project",
  "/projects",
  "/scratch",
  "/store",
  "/user-environment",
  "/user-tools",
  "/users",
  "/work",
  "/workspace",
];
/** More than one program serves on one node. */
export const MAX_EXPOSED_PORTS = 64;
export const MAX_PORT = 65_535;
export const MAX_PROBE_PATH_LENGTH = 2048;
/** A day: a slower probe is useless. */
export const MAX_PROBE_SPAN_MS = 24 * 3600 * 1000;
export const MAX_PROBE_FAILURES = 1_000;

/** A petabyte per second, more than any storage has. */
export const MAX_STORAGE_MBPS = 1_000_000_000;
