// The version, put in by the build; sources that run unbuilt have none.

declare const LATTICE_VERSION: string | undefined;

export const version: string = typeof LATTICE_VERSION === "string" ? LATTICE_VERSION : "unbuilt";
