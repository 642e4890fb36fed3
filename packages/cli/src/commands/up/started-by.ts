// The words by which this cluster was started, for hints that can be typed as they are.

export const startedBy = (): string => (process.env.npm_lifecycle_event === "start" ? "npm start --" : "lattice up");
