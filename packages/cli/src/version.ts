// The version of the program. The build defines LATTICE_VERSION; unbuilt sources report "unbuilt".

declare const LATTICE_VERSION: string | undefined;

export const version: string = typeof LATTICE_VERSION === "string" ? LATTICE_VERSION : "unbuilt";
