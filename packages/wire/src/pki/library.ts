// The library that reads and writes certificates, loaded when somebody first needs it: most programs never do, and it
// takes longer to load than all else that they do at their start.

export type Library = Awaited<ReturnType<typeof library>>;

export const library = async () => (await import("./x509.ts")).x509;
