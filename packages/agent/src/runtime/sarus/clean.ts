// Sarus keeps nothing for an attempt: its images belong to the user, and a container ends with its processes.

export const clean = async (): Promise<void> => undefined;
