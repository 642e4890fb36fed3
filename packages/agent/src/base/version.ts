// The version that the agent reports. Set by the build.

declare const LATTICE_VERSION: string | undefined;

export const version = typeof LATTICE_VERSION === "string" ? LATTICE_VERSION : "0.0.0-source";
