// Loads the X.509 library on first use: most programs never need it, and it takes longer to load than the rest of their
// start.

export type Library = Awaited<ReturnType<typeof library>>;

export const library = async () => (await import("./x509.ts")).x509;
