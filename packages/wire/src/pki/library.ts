// The library that reads and writes certificates, loaded on first use: most programs never do, and it
// takes longer to load than all else that they do at their start.

export type Library = Awaited<ReturnType<typeof library>>;

export const library = async () => (await import("./x509.ts")).x509;
