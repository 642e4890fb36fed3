// f1, the static priority: the preemption class over ten, in [0, 1].

export const priority = (preemptionClass: number): number => Math.min(1, Math.max(0, preemptionClass / 10));
