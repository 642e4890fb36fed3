// Properties are tried with the same cases in every run, so that a change is judged by what it changes and never by luck. Other
// cases: LATTICE_TEST_SEED=<number> npm test -- --unit; a seed that fails becomes a case of its own.
import fc from "fast-check";

fc.configureGlobal({ seed: Number(process.env.LATTICE_TEST_SEED ?? 1) });
