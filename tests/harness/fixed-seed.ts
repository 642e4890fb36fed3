// Property tests use the same cases in every run, so that results do not depend on chance. Other cases:
// LATTICE_TEST_SEED=<number> npm test -- --unit; add a failing seed as a case.
import fc from "fast-check";

fc.configureGlobal({ seed: Number(process.env.LATTICE_TEST_SEED ?? 1) });
